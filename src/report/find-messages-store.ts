import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import { minIdAt, timeOfId } from '../foundation/uuid7.ts';
import { recentFrom } from './message-id-range.ts';
import { TimeBudget } from './time-budget.ts';

/** Search filters. All that are given must match. */
export interface MessageSearchFilter {
  readonly messageId?: MessageId | undefined;
  readonly externalId?: string | undefined;
  /** Address of To or Cc; case-insensitive. */
  readonly address?: string | undefined;
  readonly tag?: string | undefined;
  readonly templateId?: string | undefined;
  /** Latest outcome of a recipient. */
  readonly state?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Last message of the previous page. */
  readonly before?: MessageId | undefined;
  readonly limit: number;
}

/** A matching recipient. */
interface FoundMessage {
  readonly messageId: MessageId;
  readonly recipient: number;
  /** Null: erased. */
  readonly address: string | null;
  readonly state: string;
  readonly templateId: string;
  readonly tag: string | null;
  readonly externalId: string | null;
  readonly acceptedAt: Date;
}

export interface FoundPage {
  /** Newest first, one row per matching recipient, at most `limit` messages. */
  readonly found: readonly FoundMessage[];
  /** Where to continue if the search ran out of budget before filling the page; undefined otherwise. */
  readonly next: MessageId | undefined;
}

const maxRecipients = 6;

/** Limits the search for one page, since some filter combinations almost never match. */
interface SearchBudget {
  /** Max rows scanned by one statement. */
  readonly rows: number;
  /** No further statement starts if it would exceed this, assuming it takes as long as the last one. */
  readonly maxMs: number;
}

const defaultBudget: SearchBudget = { rows: 200, maxMs: 15 };

/** Finds messages of an account. One filter is read in order from its index and the others are checked on its rows. */
export async function findMessages(
  kysely: Database['kysely'],
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
    before = step.end ?? from;
    if (step.end === undefined) {
      if (from === minId) return { found, next: undefined };
      from = minId;
    }
    if (timeBudget.isExpired() && others.length > 0) return { found, next: before as MessageId };
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
  /** The page has as many messages as requested. */
  readonly full: boolean;
  /** The last message whose recipients were all scanned; undefined if there are no more rows. */
  readonly end: string | undefined;
}

/** Scans a range of rows, newest first, within the limit of one statement. */
async function searchRange(
  kysely: Database['kysely'],
  range: readonly RawBuilder<unknown>[],
  others: readonly RawBuilder<unknown>[],
  messages: number,
  maxScanned: number,
): Promise<SearchStep> {
  // A message has at most 6 recipients, and a page must end with a complete message.
  const rowLimit = messages * maxRecipients;
  const scanned = others.length === 0 ? rowLimit : Math.max(rowLimit, maxScanned);
  // Messages this far from the end of the scan had all their recipients scanned.
  const { rows } = await sql<
    Omit<Row, 'messageId'> & { messageId: MessageId | null; end: string | null }
  >`
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
      order by message_id desc, recipient limit ${rowLimit}) as fitting on true
    order by message_id desc, recipient`.execute(kysely);
  const end = rows[0]?.end ?? undefined;
  const fitting = rows.flatMap(({ end: _, messageId, ...row }) =>
    messageId === null ? [] : { ...row, messageId },
  );
  const whole = end === undefined ? fitting : fitting.filter((row) => row.messageId >= end);
  const found = firstMessages(whole, messages);
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

/** The conditions, most selective first as far as known. */
function conditionsOf(filter: MessageSearchFilter) {
  const isCommonState = filter.state === 'delivered';
  return [
    ...equals('external_id', filter.externalId),
    ...equals('address', filter.address?.toLowerCase()),
    ...(isCommonState ? [] : equals('state', filter.state)),
    ...equals('tag', filter.tag),
    ...equals('template_id', filter.templateId),
    ...(isCommonState ? equals('state', filter.state) : []),
  ];
}

function equals(column: string, value: string | undefined) {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
}
