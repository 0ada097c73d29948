import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { type EventPosition, eventsAfter, newestPage } from './account-event-store.ts';

/** Log entries that one piece writes: events by endpoints. */
const maxPieceRows = 1_000;
/** For each statement of a piece, so that an account whose data is slow to read holds nothing up for long. */
const pieceTimeoutMs = 5_000;

/** Gives an endpoint without a position one from which it gets all events since it was created. */
const addPositions = sql`
  insert into webhook_position (account_id, page, size)
  select w.account_id, coalesce(p.page, 0), coalesce(p.size, 0)
  from (
    select account_id, min(created_at) as since from webhook_endpoint w
    where not exists (select from webhook_position p where p.account_id = w.account_id) group by 1) as w
  left join lateral (
    select page, size from account_event_page p
    where p.account_id = w.account_id and p.last_at < w.since - interval '1 minute' order by page desc limit 1) as p on true
  on conflict do nothing`;

/** Work that waits, of all accounts. */
export interface WebhookWork {
  /** Accounts with events that aren't in the log of their endpoints yet, or with entries to replay or resume. */
  readonly accountIds: readonly AccountId[];
  /** Endpoints with deliveries that are due. */
  readonly due: readonly { readonly accountId: AccountId; readonly endpointId: string }[];
}

/**
 * Finds what to do in one statement, which reads a few index entries for each endpoint.
 * @param accounts undefined: of all accounts
 */
export async function findWebhookWork(
  kysely: Kysely,
  accounts?: Iterable<string>,
): Promise<WebhookWork> {
  const isAsked =
    accounts === undefined ? sql`true` : sql`account_id = any (${[...accounts]}::text[])`;
  const rows = await allRows<{ accountId: AccountId; endpointId: string | null }>(kysely)`
    with positioned as (${addPositions})
    select account_id as "accountId", null::uuid as "endpointId" from webhook_position p
    where ${isAsked} and exists (
      select from account_event_page a
      where a.account_id = p.account_id and a.page >= p.page and (a.page > p.page or a.size > p.size))
    union select account_id, null from webhook_replay where ${isAsked} and finished_at is null
    union select account_id, null from webhook_endpoint where ${isAsked} and resumed_place is not null
    union all
    select account_id, id from webhook_endpoint w
    where ${isAsked} and paused_at is null and resumed_place is null and (${hasDue(false)} or ${hasDue(true)})`;
  return {
    accountIds: rows.flatMap(({ accountId, endpointId }) =>
      endpointId === null ? [accountId] : [],
    ),
    due: rows.flatMap(({ accountId, endpointId }) =>
      endpointId === null ? [] : [{ accountId, endpointId }],
    ),
  };
}

function hasDue(bulk: boolean) {
  return sql`exists (
    select from webhook_delivery d
    where d.account_id = w.account_id and d.endpoint_id = w.id and d.state = 'pending' and d.bulk = ${sql.lit(bulk)}
      and d.due_at <= now() and (d.claimed_until is null or d.claimed_until <= now()))`;
}

/** What a piece has written. */
export interface FanOutPiece {
  /** Endpoints with new log entries. */
  readonly endpointIds: readonly string[];
  readonly mayHaveMore: boolean;
}

/**
 * Writes the next events of an account to the logs of its endpoints, and moves its position in the same commit. Nobody waits for
 * the account: another process that has it is left alone.
 */
export async function fanOutNext(kysely: Kysely, accountId: AccountId): Promise<FanOutPiece> {
  return await kysely.transaction().execute(async (transaction) => {
    await run(transaction)`select set_config('statement_timeout', ${String(pieceTimeoutMs)}, true)`;
    const position = await firstRow<EventPosition & { endpoints: number }>(transaction)`
      select page::text, size::int as index, (
        select count(*) from webhook_endpoint where account_id = ${accountId})::int as endpoints
      from webhook_position where account_id = ${accountId} for update skip locked`;
    if (position === undefined) return { endpointIds: [], mayHaveMore: false };
    if (position.endpoints === 0) {
      await skipEvents(transaction, accountId);
      return { endpointIds: [], mayHaveMore: false };
    }
    const limit = Math.max(1, Math.floor(maxPieceRows / position.endpoints));
    return await writePiece(transaction, accountId, position, limit);
  });
}

async function writePiece(
  transaction: Kysely,
  accountId: AccountId,
  position: EventPosition,
  limit: number,
): Promise<FanOutPiece> {
  // Each lateral join is a lookup by key because of its limit. An event of a message that waits for a retry waits with it.
  const rows = await allRows<{ events: number; endpointIds: string[] }>(transaction)`
    with ${eventsAfter(accountId, position, limit, sql`${position.page}::bigint`)},
    found as (
      select e.page, e.place, e.message_id, e.event_id, e.days, v.kind, v.recipient, v.at,
        (v.detail::jsonb - 'transcript')::json as detail
      from events e join lateral (
        select kind, recipient, at, detail from message_event
        where account_id = ${accountId} and message_id = e.message_id and id = e.event_id and retention_days = e.days limit 1
      ) as v on e.event_id <> e.message_id
      union all
      select e.page, e.place, e.message_id, e.event_id, e.days, 'accepted', null, m.accepted_at, '{}'
      from events e join lateral (
        select accepted_at from message
        where account_id = ${accountId} and id = e.message_id and retention_days = e.days limit 1
      ) as m on e.event_id = e.message_id),
    written as (
      insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, recipient, event_at, detail, due_at)
      select ${accountId}, w.id, f.event_id, f.message_id, f.days, f.kind, f.recipient, f.at, f.detail,
        case when w.failing_since is null then now() else coalesce((
          select d.due_at from webhook_delivery d
          where d.account_id = ${accountId} and d.endpoint_id = w.id and d.message_id = f.message_id and d.state = 'pending'
          order by d.place limit 1), now()) end
      from found f join webhook_endpoint w on w.account_id = ${accountId} and f.kind = any (w.kinds)
      order by f.page, f.place, w.id
      on conflict do nothing
      returning endpoint_id),
    moved as (
      update webhook_position p set page = e.page, size = e.place
      from (select page, place from events order by page desc, place desc limit 1) as e
      where p.account_id = ${accountId})
    select (select count(*) from events)::int as events,
      array(select distinct endpoint_id from written)::text[] as "endpointIds"`;
  const { events, endpointIds } = rows[0] ?? { events: 0, endpointIds: [] };
  return { endpointIds, mayHaveMore: events === limit };
}

/** Moves an account without endpoints past its events. */
async function skipEvents(transaction: Kysely, accountId: AccountId): Promise<void> {
  await run(transaction)`
    update webhook_position set (page, size) = (${newestPage(accountId)})
    where account_id = ${accountId} and exists (${newestPage(accountId)})`;
}
