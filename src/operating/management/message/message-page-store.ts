import { type RawBuilder, sql } from 'kysely';
import type { KeyMode } from '../../../accounts/access/principal.ts';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows } from '../../../base/database/statements.ts';
import { TimeBudget } from '../../../base/fairness/time-budget.ts';
import type { AccountId, MessageId } from '../../../base/values/ids.ts';
import { minIdAt } from '../../../base/values/uuid7.ts';
import {
  attributeRows,
  ccAddresses,
  contentMembers,
  pausedScopeOf,
  toAddress,
} from '../../../content/message/message-sql.ts';
import {
  type MessageState,
  messageStateNames,
  messageStates,
} from '../../../content/message/message-state.ts';
import { isLive, isTest } from '../../../content/message/test-class.ts';
import {
  findAttributed,
  findMessages,
  recentFrom,
} from '../../../outcomes/report/find-messages-store.ts';

/** A line of the message log. */
export interface MessageListItem {
  readonly id: MessageId;
  readonly acceptedAt: Date;
  readonly state: MessageState;
  readonly stateAt: Date;
  readonly templateId: string;
  readonly templateVersion: number;
  readonly to: string | null;
  readonly from: string | null;
  readonly tag: string | null;
  readonly externalId: string | null;
  readonly locale: string | null;
  readonly transactional: boolean;
  readonly test: boolean;
  /** Null if it's final, or until a person decides. */
  readonly nextAttemptAt: Date | null;
  readonly reason: string | null;
  readonly paused: boolean;
}

export interface MessageListFilter {
  readonly state?: MessageState | undefined;
  readonly templateId?: string | undefined;
  readonly tag?: string | undefined;
  readonly externalId?: string | undefined;
  /** Address, or part of the To address, in lower case. */
  readonly recipient?: string | undefined;
  /** `name=value` */
  readonly attribute?: string | undefined;
  /** A locale or language of requests, canonical; a language includes its regions. */
  readonly locale?: string | undefined;
  readonly clientId?: string | undefined;
  readonly transactional?: boolean | undefined;
  readonly mode?: KeyMode | undefined;
  /** Only messages that are not final. */
  readonly waiting?: boolean | undefined;
  /** Accepted: from inclusive, until exclusive. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Max messages scanned per statement. */
const maxScanned = 700;
/**
 * Time budget of a page. No statement starts that would exceed it if it took as long as the previous one, which bounds
 * the cost of filters with few matches.
 */
const pageBudgetMs = 25;

export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** States whose messages all wait in the queue. */
const waitingStates: ReadonlySet<MessageState> = new Set(
  messageStateNames.filter((state) => messageStates[state].next === 'attempt'),
);

/**
 * Messages of an account, newest first.
 * @param before last id of the previous page
 * @returns lines and where the next page starts, undefined at the end. A page can be short even if more follow.
 */
export async function readMessagePage(
  kysely: Kysely,
  accountId: AccountId,
  filter: MessageListFilter,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<{ readonly lines: readonly MessageListItem[]; readonly next: string | undefined }> {
  const maxId = filter.until === undefined ? lastId : minIdAt(filter.until);
  const before = page.before !== undefined && page.before < maxId ? page.before : maxId;
  const minId = minIdAt(filter.from ?? new Date(0));
  const indexed = await findIndexed(kysely, accountId, filter, before, page.limit + 1);
  const { mode } = filter;
  const range = { accountId, ids: indexed?.ids, mode, ...fromWaiting(filter) };
  const lines: MessageListItem[] = [];
  let end: string = before;
  let from = range.waiting ? minId : recentFrom(minId, before);
  const time = new TimeBudget(pageBudgetMs);
  for (;;) {
    const remaining = page.limit + 1 - lines.length;
    const scan = await scanRange(kysely, filter, { ...range, before: end, minId: from }, remaining);
    lines.push(...scan.lines);
    if (lines.length > page.limit) {
      const shown = lines.slice(0, page.limit);
      return { lines: shown, next: shown.at(-1)?.id };
    }
    if (indexed !== undefined) return { lines, next: indexed.next };
    if (scan.end !== undefined) {
      end = scan.end;
      if (time.isExpired()) return { lines, next: end };
    } else if (from === minId) return { lines, next: undefined };
    else {
      // All that is older is one more scan, however slow this one was.
      end = from;
      from = minId;
    }
  }
}

/** These messages of an account, newest first, without those that the filter excludes. */
export async function readMessageLines(
  kysely: Kysely,
  accountId: AccountId,
  filter: MessageListFilter,
  ids: readonly string[],
): Promise<readonly MessageListItem[]> {
  if (ids.length === 0) return [];
  const { mode } = filter;
  const range = { accountId, ids, mode, before: lastId, minId: lastId, waiting: false };
  const { lines } = await scanRange(kysely, filter, range, ids.length, recipientConditions(filter));
  return lines;
}

interface ScanResult {
  readonly lines: readonly MessageListItem[];
  /** The last message scanned; undefined if there are no more or the scan was limited to given ids. */
  readonly end: string | undefined;
}

/** Scans a range of messages with a single statement, newest first. */
async function scanRange(
  kysely: Kysely,
  filter: MessageListFilter,
  range: ScanRange,
  limit: number,
  more: readonly RawBuilder<unknown>[] = [],
): Promise<ScanResult> {
  const checked = [...conditions(filter), ...more];
  const scanLimit = checked.length === 0 ? limit : maxScanned;
  const rows = await allRows<
    Omit<MessageListItem, 'id'> & { id: MessageId | null; end: string | null }
  >(kysely)`
    with looked as (${scanned(range, scanLimit)})
    select m.id, m.accepted_at as "acceptedAt", m.state, m.state_at as "stateAt", m.template_id as "templateId",
      m.template_version as "templateVersion", c."to", c."from" ->> 'address' as from, m.tag,
      m.external_id as "externalId", c.locale #>> '{}' as locale, m.transactional, ${sql.raw(isTest('m.retention_days'))} as test,
      case when p.scope is null and q.due_at < 'infinity' then q.due_at end as "nextAttemptAt", q.reason,
      p.scope is not null as paused, last."end"
    from (select (select id from looked order by id desc offset ${scanLimit - 1} limit 1) as "end") as last
    left join (
      select * from looked as m where ${sql.join([sql`true`, ...checked], sql` and `)}
      order by id desc limit ${limit}) as m on true
    left join lateral ${sql.raw(contentMembers('m', 'c', ['to', 'from', 'locale']))} on true
    left join lateral (
      select * from queued_delivery where account_id = ${range.accountId} and message_id = m.id
      order by due_at, recipient limit 1) as q on true
    left join lateral (select ${sql.raw(pausedScopeOf('q', 'm'))} as scope) as p on q.message_id is not null
    order by m.id desc`;
  const lines = rows.flatMap(({ end: _, id, ...line }) => (id === null ? [] : { id, ...line }));
  return { lines, end: rows[0]?.end ?? undefined };
}

/**
 * Finds message IDs through an index, newest first, with the position to continue from; undefined if the filter has no
 * indexed member or only selects waiting messages.
 */
async function findIndexed(
  kysely: Kysely,
  accountId: AccountId,
  filter: MessageListFilter,
  before: string,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined } | undefined> {
  const { externalId, recipient, attribute, tag, templateId, from } = filter;
  const { waiting } = fromWaiting(filter);
  const address = recipient !== undefined && wholeAddress.test(recipient) ? recipient : undefined;
  const state = waiting ? undefined : filter.state;
  if (attribute !== undefined && !waiting && externalId === undefined && address === undefined) {
    const minId = minIdAt(from ?? new Date(0));
    const ids = await findAttributed(kysely, accountId, attribute, { before, minId, limit });
    return { ids, next: ids.length === limit ? ids.at(-1) : undefined };
  }
  const indexed = [externalId, address, tag, templateId, state];
  if (indexed.every((value) => value === undefined) || waiting) return undefined;
  const { found, next } = await findMessages(kysely, accountId, {
    externalId,
    address,
    tag,
    templateId,
    state,
    from,
    before: before as MessageId,
    limit,
  });
  const ids = [...new Set(found.map(({ messageId }) => messageId))];
  return { ids, next: ids.length === limit ? ids.at(-1) : next };
}

export const wholeAddress = /.@./;

interface ScanRange {
  readonly accountId: AccountId;
  readonly before: string;
  readonly minId: string;
  readonly waiting: boolean;
  /** Restricts the scan to these ids. */
  readonly ids: readonly string[] | undefined;
  readonly mode: KeyMode | undefined;
}

function fromWaiting({ state, waiting }: MessageListFilter): { waiting: boolean } {
  return { waiting: waiting === true || (state !== undefined && waitingStates.has(state)) };
}

/** The messages to scan; waiting ones are few and found through the queue. */
function scanned(
  { accountId, before, minId, waiting, ids, mode }: ScanRange,
  scanLimit: number,
): RawBuilder<unknown> {
  const days = 'retention_days';
  const isInMode =
    mode === undefined ? sql`` : sql.raw(` and ${mode === 'test' ? isTest(days) : isLive(days)}`);
  if (ids !== undefined) {
    return sql`select * from message where account_id = ${accountId} and id = any(${ids}::uuid[])${isInMode}`;
  }
  if (!waiting) {
    return sql`
      select * from message where account_id = ${accountId} and id < ${before}::uuid and id >= ${minId}::uuid
        ${isInMode}
      order by id desc limit ${scanLimit}`;
  }
  return sql`
    select message.* from (
      select distinct message_id, retention_days from queued_delivery
      where account_id = ${accountId} and message_id < ${before}::uuid and message_id >= ${minId}::uuid
        ${isInMode}
      order by message_id desc limit ${scanLimit}) e
    join message on message.account_id = ${accountId} and message.id = e.message_id
      and message.retention_days = e.retention_days
    order by message.id desc`;
}

/** Checks a whole address, which `findIndexed` finds through an index. */
function recipientConditions({ recipient, waiting }: MessageListFilter): RawBuilder<unknown>[] {
  if (recipient === undefined || waiting === true || !wholeAddress.test(recipient)) return [];
  return [
    sql`(lower(${sql.raw(toAddress('m'))}) = ${recipient} or exists (
      select from ${sql.raw(ccAddresses('m'))} as c (address) where lower(c.address) = ${recipient}))`,
  ];
}

function conditions(filter: MessageListFilter): RawBuilder<unknown>[] {
  const all: RawBuilder<unknown>[] = [];
  const { state, templateId, tag, externalId, recipient, attribute } = filter;
  const { locale, clientId, transactional } = filter;
  if (state !== undefined) all.push(sql`m.state = ${state}`);
  if (templateId !== undefined) all.push(sql`m.template_id = ${templateId}`);
  if (tag !== undefined) all.push(sql`m.tag = ${tag}`);
  if (externalId !== undefined) all.push(sql`m.external_id = ${externalId}`);
  if (attribute !== undefined) {
    const written = sql`a.key || '=' || a.value`;
    all.push(
      sql`exists (select from ${sql.raw(attributeRows('m'))} as a where ${written} = ${attribute})`,
    );
  }
  if (locale !== undefined) {
    const given = sql`m.content ->> 'locale'`;
    all.push(sql`(${given} = ${locale} or starts_with(${given}, ${`${locale}-`}))`);
  }
  if (clientId !== undefined) all.push(sql`m.client_id = ${clientId}`);
  if (transactional !== undefined) all.push(sql`m.transactional = ${transactional}`);
  if (recipient !== undefined && (filter.waiting === true || !wholeAddress.test(recipient)))
    all.push(sql`position(${recipient} in lower(${sql.raw(toAddress('m'))})) > 0`);
  return all;
}
