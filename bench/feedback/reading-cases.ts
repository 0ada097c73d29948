import type { Database } from '../../src/base/database/open-database.ts';
import { minIdAt } from '../../src/base/values/uuid7.ts';

type Query = Readonly<Record<string, string>>;

/** A request to the management API. */
export interface ReadingCase {
  readonly name: string;
  readonly path: string;
  readonly query: Query;
}

const dayMs = 24 * 60 * 60 * 1_000;

function makeCases(path: string, queries: Readonly<Record<string, Query>>): ReadingCase[] {
  return Object.entries(queries).map(([name, query]) => ({ name, path, query }));
}

/** Reports of 90 or more days by everything, and with each filter. */
export function reportCases(accountId: string, now: number): ReadingCase[] {
  const daysAgo = (days: number) => new Date(now - days * dayMs).toISOString();
  const range = { from: daysAgo(90.08), until: daysAgo(0) };
  // No sum by UTC hour fits this zone.
  const zone = { ...range, timeZone: 'Asia/Kathmandu' };
  const template = { templateId: 'history-01' };
  return makeCases(`/accounts/${accountId}/reports`, {
    total: range,
    'by hour': { ...zone, group: 'hour', from: daysAgo(7) },
    'by hour, 90 days': { ...zone, group: 'hour' },
    'by day': { ...zone, group: 'day' },
    'by day, 400 days': { ...zone, group: 'day', from: daysAgo(400) },
    'by template': { ...range, group: 'template' },
    'by tag': { ...range, group: 'tag' },
    'by sender': { ...range, group: 'sender' },
    'by destination': { ...range, group: 'destination' },
    'a template by day': { ...zone, group: 'day', ...template },
    'a template by tag': { ...range, group: 'tag', ...template },
    'a template and tag by day': { ...zone, group: 'day', ...template, tag: 'tag-7' },
    'a tag by template': { ...range, group: 'template', tag: 'tag-7' },
    'a destination by day': { ...zone, group: 'day', destinationDomain: 'mail0.test' },
    'a rare template by tag': { ...range, group: 'tag', templateId: 'history-40' },
  });
}

/** The message log by each filter and by filters that rarely match together. @param daysAgo how far back to search */
export async function searchCases(
  { pool }: Database,
  accountId: string,
  now: number,
  daysAgo = 40,
): Promise<ReadingCase[]> {
  const past = new Date(now - daysAgo * dayMs);
  const { rows } = await pool.query<{ id: string; external_id: string; address: string }>(
    `select m.id, m.external_id, m.content ->> 'to' as address from message m
     where account_id = $1 and external_id is not null and id < $2 order by id desc limit 1`,
    [accountId, minIdAt(past)],
  );
  const [one] = rows;
  if (one === undefined) throw new Error(`no message of ${daysAgo} days ago`);
  const until = past.toISOString();
  const from = new Date(past.getTime() - dayMs).toISOString();
  const path = `/accounts/${accountId}/messages`;
  return [
    { name: 'id', path: `${path}/${one.id}`, query: {} },
    ...makeCases(path, {
      newest: {},
      'external id': { externalId: one.external_id },
      recipient: { recipient: one.address },
      'recipient unknown': { recipient: 'nobody@nowhere.test' },
      'part of a recipient': { recipient: 'reader17' },
      tag: { tag: 'tag-7' },
      template: { templateId: 'history-01' },
      'rare template': { templateId: 'history-40' },
      delivered: { state: 'delivered' },
      bounced: { state: 'bounced' },
      'failed (none)': { state: 'failed' },
      deferred: { state: 'deferred' },
      'a day': { from, until },
      'tag on a day': { tag: 'tag-7', until },
      'bounced of a template': { state: 'bounced', templateId: 'history-30' },
      // No message of this template has this tag.
      'never together': { tag: 'tag-7', templateId: 'history-02' },
      'recipient and state': { recipient: one.address, state: 'bounced' },
      transactional: { transactional: 'true' },
      'another client (none)': { clientId: 'nobody' },
      'words of most subjects': { search: 'your order' },
      'a word of no subject': { search: 'invoices' },
      'recipient in the search box': { search: one.address },
      'words of subjects that bounced': { search: 'your order', state: 'bounced' },
    }),
  ];
}
