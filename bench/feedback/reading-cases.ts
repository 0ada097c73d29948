import type { Database } from '../../src/foundation/database/open-database.ts';

/** A question to the management API, below `/accounts/{id}`; `{cursor}` stands for where the page before ended. */
export interface ReadingCase {
  readonly name: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

const day = 24 * 60 * 60 * 1_000;
const time = (epochMs: number): string => new Date(epochMs).toISOString();

/** Reports of 90 days by everything, of 400 by days, and with each filter. */
export function reportCases(now: number): ReadingCase[] {
  const range = { from: time(now - 90 * day - 7_000_000), until: time(now) };
  const zone = { timeZone: 'Asia/Kathmandu' };
  const template = { templateId: 'history-01' };
  const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    total: {},
    'by hour': { group: 'hour', ...zone, from: time(now - 7 * day) },
    'by hour, 90 days': { group: 'hour', ...zone },
    'by day': { group: 'day', ...zone },
    'by day, 400 days': { group: 'day', ...zone, from: time(now - 400 * day) },
    'by template': { group: 'template' },
    'by tag': { group: 'tag' },
    'by sender': { group: 'sender' },
    'by destination': { group: 'destination' },
    'a template by day': { group: 'day', ...zone, ...template },
    'a template by tag': { group: 'tag', ...template },
    'a template and tag by day': { group: 'day', ...zone, ...template, tag: 'tag-7' },
    'a tag by template': { group: 'template', tag: 'tag-7' },
    'a destination by day': { group: 'day', ...zone, destinationDomain: 'mail0.test' },
    'a rare template by tag': { group: 'tag', templateId: 'history-40' },
  };
  return Object.entries(cases).map(([name, query]) => ({
    name,
    path: '/reports',
    query: { ...range, ...query },
  }));
}

/**
 * The log of messages by each filter, by filters that hardly ever come together, and pages far back.
 * @param daysAgo of what is looked for in the past
 */
export async function searchCases(
  { pool }: Database,
  accountId: string,
  now: number,
  daysAgo = 40,
): Promise<ReadingCase[]> {
  const { rows } = await pool.query<{ id: string; external_id: string; address: string }>(
    `select m.id, m.external_id, m.content ->> 'to' as address from message m
     where account_id = $1 and external_id is not null and id < $2 order by id desc limit 1`,
    [accountId, idAt(now - daysAgo * day)],
  );
  const [one] = rows;
  if (one === undefined) throw new Error(`there is no message of ${daysAgo} days ago`);
  const log = (query: Readonly<Record<string, string>>) => ({ path: '/messages', query });
  return [
    { name: 'newest', ...log({}) },
    { name: 'id', path: `/messages/${one.id}`, query: {} },
    { name: 'external id', ...log({ externalId: one.external_id }) },
    { name: 'recipient', ...log({ recipient: one.address }) },
    { name: 'recipient unknown', ...log({ recipient: 'nobody@nowhere.test' }) },
    { name: 'part of a recipient', ...log({ recipient: 'reader17' }) },
    { name: 'tag', ...log({ tag: 'tag-7' }) },
    { name: 'template', ...log({ templateId: 'history-01' }) },
    { name: 'rare template', ...log({ templateId: 'history-40' }) },
    { name: 'delivered', ...log({ state: 'delivered' }) },
    { name: 'bounced', ...log({ state: 'bounced' }) },
    { name: 'failed (none)', ...log({ state: 'failed' }) },
    { name: 'deferred', ...log({ state: 'deferred' }) },
    {
      name: 'a day',
      ...log({ from: time(now - (daysAgo + 1) * day), until: time(now - daysAgo * day) }),
    },
    { name: 'tag on a day', ...log({ tag: 'tag-7', until: time(now - daysAgo * day) }) },
    { name: 'bounced of a template', ...log({ state: 'bounced', templateId: 'history-30' }) },
    // No message of this template has this tag.
    { name: 'never together', ...log({ tag: 'tag-7', templateId: 'history-02' }) },
    { name: 'recipient and state', ...log({ recipient: one.address, state: 'bounced' }) },
    { name: 'transactional', ...log({ transactional: 'true' }) },
    { name: 'another client (none)', ...log({ clientId: 'nobody' }) },
  ];
}

function idAt(epochMs: number): string {
  const hex = epochMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
