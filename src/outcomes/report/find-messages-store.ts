import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { TimeBudget } from '../../base/fairness/time-budget.ts';
import { lowerCase } from '../../base/values/email-address.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { minIdAt, timeOfId } from '../../base/values/uuid7.ts';
import { maxRecipients } from '../../content/message/message-content.ts';
import { attributeHash } from '../../content/message/message-sql.ts';
import type { MessageState } from '../../content/message/message-state.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const recentMs = 14 * dayMs;

/**
 * Start with recent messages: most searches want the last few days, and a short range makes PostgreSQL plan and open
 * fewer partitions.
 * @param before end of the range
 * @returns start of its last days, or `minId` if that is later
 */
export function recentFrom(minId: string, before: string | undefined): string {
  const end = Math.min(
    before === undefined ? Number.POSITIVE_INFINITY : timeOfId(before).getTime(),
    Date.now(),
  );
  const from = minIdAt(new Date(end - recentMs));
  return from < minId ? minId : from;
}

/** Search filters; a message must match all that are given. */
export interface MessageSearchFilter {
  readonly messageId?: MessageId | undefined;
  readonly externalId?: string | undefined;
  /** A To or Cc address, case-insensitive. */
  readonly address?: string | undefined;
  readonly tag?: string | undefined;
  readonly templateId?: string | undefined;
  /** The last outcome of a recipient. */
  readonly state?: MessageState | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Cursor: the last message of the previous page. */
  readonly before?: MessageId | undefined;
  readonly limit: number;
}

/** A matching recipient of a message. */
interface FoundMessage {
  readonly messageId: MessageId;
  readonly recipient: number;
  /** Null once erased. */
  readonly address: string | null;
  readonly state: MessageState;
  readonly templateId: string;
  readonly tag: string | null;
  readonly externalId: string | null;
  readonly acceptedAt: Date;
}

/** A page of found messages. */
interface FoundPage {
  /** Newest first, one row per matching recipient, at most `limit` messages. */
  readonly found: readonly FoundMessage[];
  /** Cursor to continue with if the search stopped before the page was full; undefined otherwise. */
  readonly next: MessageId | undefined;
}

/** Limits the search for combinations of filters that rarely match. */
interface SearchBudget {
  /** Rows scanned per statement. */
  readonly rows: number;
  /** No statement starts that would end later than this if it took as long as the previous one. */
  readonly maxMs: number;
}

const defaultBudget: SearchBudget = { rows: 200, maxMs: 15 };

/**
 * Finds messages of an account: scans the index of the most selective filter and checks the other filters on its rows.
 */
export async function findMessages(
  kysely: Kysely,
  accountId: AccountId,
  filter: MessageSearchFilter,
  budget = defaultBudget,
): Promise<FoundPage> {
  const timeBudget = new TimeBudget(budget.maxMs);
  const [first, ...others] = conditionsOf(filter);
  const conditions = [
    sql`account_id = ${accountId}`,
    ...(first === undefined ? [] : [first]),
    ...equals('message_id', filter.messageId),
  ];
  const minId = minIdAt(filter.from ?? new Date(0));
  const found: FoundMessage[] = [];
  let before = upperBoundOf(filter);
  let from = filter.messageId === undefined ? recentFrom(minId, before) : minId;
  for (;;) {
    const missing = filter.limit - countMessages(found);
    const step = await searchRange(
      kysely,
      [...conditions, sql`message_id >= ${from}`, ...below(before)],
      others,
      missing,
      budget.rows,
    );
    found.push(...step.found);
    if (step.full) return { found, next: undefined };
    if (step.end !== undefined) {
      before = step.end;
      if (timeBudget.isExpired()) return { found, next: before as MessageId };
    } else if (from === minId) return { found, next: undefined };
    else {
      before = from;
      from = minId;
    }
  }
}

function upperBoundOf({ until, before }: MessageSearchFilter): string | undefined {
  const ids = [...(until === undefined ? [] : [minIdAt(until)]), ...(before ? [before] : [])];
  return ids.sort()[0];
}

function below(id: string | undefined) {
  return id === undefined ? [] : [sql`message_id < ${id}`];
}

interface SearchStep {
  readonly found: readonly FoundMessage[];
  /** True if it found as many messages as requested. */
  readonly full: boolean;
  /** The last message scanned with all its recipients; undefined if there are no more rows. */
  readonly end: string | undefined;
}

/** Scans a range of rows, newest first, up to the limit of one statement. */
async function searchRange(
  kysely: Kysely,
  range: readonly RawBuilder<unknown>[],
  others: readonly RawBuilder<unknown>[],
  messages: number,
  maxScanned: number,
): Promise<SearchStep> {
  // A message has at most `maxRecipients`, so the page ends with a complete message.
  const rowLimit = messages * maxRecipients;
  const scanned = others.length === 0 ? rowLimit : Math.max(rowLimit, maxScanned);
  // A message that begins `maxRecipients` rows before the end of the scan was scanned with all its recipients.
  const rows = await allRows<
    Omit<Row, 'messageId'> & { messageId: MessageId | null; end: string | null }
  >(kysely)`
    with scanned as ${sql.raw(others.length === 0 ? 'not materialized' : 'materialized')} (
      select * from message_search where ${sql.join(range, sql` and `)}
      order by message_id desc, recipient limit ${scanned})
    select message_id as "messageId", recipient, address, state, template_id as "templateId", tag,
      external_id as "externalId", last."end"
    from (select ${
      others.length === 0
        ? sql`null::uuid`
        : sql`(select message_id from scanned order by message_id desc, recipient offset ${scanned - maxRecipients} limit 1)`
    } as "end") as last
    left join (
      select * from scanned where ${sql.join([sql`true`, ...others], sql` and `)}
      order by message_id desc, recipient limit ${rowLimit}) as matching on true
    order by message_id desc, recipient`;
  const end = rows[0]?.end ?? undefined;
  const matching = rows.flatMap(({ end: _, messageId, ...row }) =>
    messageId === null ? [] : { ...row, messageId },
  );
  const complete = end === undefined ? matching : matching.filter((row) => row.messageId >= end);
  const found = firstMessages(complete, messages);
  return { found, full: countMessages(found) === messages, end };
}

type Row = Omit<FoundMessage, 'acceptedAt'>;

function countMessages(rows: readonly Row[]): number {
  return new Set(rows.map(({ messageId }) => messageId)).size;
}

function firstMessages(rows: readonly Row[], limit: number): FoundMessage[] {
  const ids = new Set<string>();
  const page: FoundMessage[] = [];
  for (const row of rows) {
    ids.add(row.messageId);
    if (ids.size > limit) break;
    page.push({ ...row, acceptedAt: timeOfId(row.messageId) });
  }
  return page;
}

/** The filters as conditions, most selective first as far as that is known. */
function conditionsOf(filter: MessageSearchFilter) {
  const isCommonState = filter.state === 'delivered';
  return [
    ...equals('external_id', filter.externalId),
    ...equals('address', filter.address && lowerCase(filter.address)),
    ...(isCommonState ? [] : equals('state', filter.state)),
    ...equals('tag', filter.tag),
    ...equals('template_id', filter.templateId),
    ...(isCommonState ? equals('state', filter.state) : []),
  ];
}

function equals(column: string, value: string | undefined) {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
}

/** A range of message ids; `before` is exclusive. */
interface IdRange {
  readonly before: string;
  readonly minId: string;
  readonly limit: number;
}

/**
 * Ids of an account's messages with an attribute, newest first. Check the attribute again: different ones can have the
 * same hash.
 * @param attribute `name=value`
 */
export async function findAttributed(
  kysely: Kysely,
  accountId: AccountId,
  attribute: string,
  { before, minId, limit }: IdRange,
): Promise<readonly string[]> {
  const recent = recentFrom(minId, before);
  for (const from of recent === minId ? [minId] : [recent, minId]) {
    const rows = await allRows<{ id: string }>(kysely)`
      select message_id as id from message_attribute
      where account_id = ${accountId} and hash = (select ${sql.raw(attributeHash('t.text'))} from (select ${attribute}::text) as t (text))
        and message_id < ${before}::uuid and message_id >= ${from}::uuid
      order by message_id desc limit ${limit}`;
    if (rows.length === limit || from === minId) return rows.map(({ id }) => id);
  }
  return [];
}
