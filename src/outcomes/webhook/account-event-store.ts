import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import type { EventKind } from '../../content/message/event-kinds.ts';
import { recipientAddress } from '../../content/message/message-sql.ts';
import { isTest } from '../../content/message/test-class.ts';
import { type FeedRange, inWindow } from '../feed/feed-window-store.ts';

/** Events per page. */
const pageSize = 100;

/** Writes a window's events to the pages of their accounts. @returns these accounts */
export async function writeEventPages(transaction: Kysely, range: FeedRange): Promise<AccountId[]> {
  const order = sql`tx, at, event_id <> message_id, event_id`;
  const rows = await allRows<{ accountId: AccountId }>(transaction)`
    with found as (
      select account_id, id as message_id, id as event_id, retention_days, accepted_at as at, tx
      from message where ${inWindow(range, 'message')}
      union all
      select account_id, message_id, id, retention_days, at, tx
      from message_event where ${inWindow(range, 'message_event')}),
    placed as (
      select *, (row_number() over (partition by account_id order by ${order}) - 1) / ${sql.lit(pageSize)} as part
      from found),
    written as (
      insert into account_event_page (account_id, size, last_at, message_ids, event_ids, retention_days)
      select account_id, count(*), max(at), array_agg(message_id order by ${order}), array_agg(event_id order by ${order}),
        array_agg(retention_days order by ${order})
      from placed where account_id in (select id from account)
      group by account_id, part order by account_id, part
      returning account_id)
    select distinct account_id as "accountId" from written`;
  return rows.map(({ accountId }) => accountId);
}

/** SQL: the newest page of an account, or where its pages ended that were removed. */
export const newestPage = (accountId: AccountId) => sql`
  select page, size from (
    (select page, size from account_event_page where account_id = ${accountId} order by page desc limit 1)
    union all
    select page, size from account_event_start where account_id = ${accountId}) as ends
  order by page desc limit 1`;

/**
 * `with` list: the keys of the first `limit` events of an account after a position, as `events`.
 * @param first SQL for the page to begin with, at or after that of the position
 */
export const eventsAfter = (
  accountId: AccountId,
  { page, index }: EventPosition,
  limit: number,
  first: RawBuilder<unknown>,
) => sql`
  pages as (
    select *, sum(size) over (order by page) - size as earlier from (
      select * from account_event_page
      where account_id = ${accountId} and page >= ${first}
      order by page limit ${limit + 1}) as following),
  events as (
    select p.page, u.place, u.message_id, u.event_id, u.days
    from pages p, unnest(p.message_ids, p.event_ids, p.retention_days) with ordinality as u (message_id, event_id, days, place)
    where p.earlier < ${limit + pageSize} and (p.page > ${page}::bigint or u.place > ${index})
    order by p.page, u.place limit ${limit})`;

/** A position between two events of an account: `index` events of this page and all of the pages before it. */
export interface EventPosition {
  readonly page: string;
  readonly index: number;
}

/** An event with the contents of its webhook. */
export interface AccountEvent {
  readonly eventId: string;
  readonly messageId: MessageId;
  readonly kind: EventKind;
  readonly at: Date;
  readonly recipient: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly templateId: string | null;
  readonly tag: string | null;
  readonly externalId: string | null;
  /** True for a test message. */
  readonly test?: boolean;
  /** Of the message; null if it has none or they were erased. */
  readonly attributes: Readonly<Record<string, string>> | null;
  /** The recipient, or To if the event is about the whole message; null once erased. */
  readonly address: string | null;
  /** The position after it. */
  readonly position: EventPosition;
}

/** `expired`: events after the position may have been deleted. `unknown`: no event was ever there. */
export type EventRead =
  | { readonly outcome: 'expired' | 'unknown' }
  | { readonly outcome: 'read'; readonly events: AccountEvent[]; readonly end: EventPosition };

interface EventRow extends Omit<AccountEvent, 'position' | 'kind' | 'at'> {
  readonly expired: boolean;
  readonly unknown: boolean;
  readonly newestPage: string | null;
  readonly newestSize: number | null;
  readonly page: string | null;
  readonly place: number;
  readonly kind: EventKind | null;
  readonly at: Date | null;
}

/**
 * Up to `limit` events after a position, in one snapshot with the check that none is missing. Events that were deleted
 * with their message are skipped.
 * @param after undefined for the oldest event within retention
 */
export async function readAccountEvents(
  kysely: Kysely,
  accountId: AccountId,
  after: EventPosition | undefined,
  limit: number,
): Promise<EventRead> {
  const { page, index } = after ?? { page: '0', index: 0 };
  const cutoff = sql`now() - (select retention_days from account where id = ${accountId}) * interval '1 day'`;
  const rows = await allRows<EventRow>(kysely)`
    with first as (
      select page, last_at from account_event_page
      where account_id = ${accountId} and (page > ${page}::bigint or page = ${page}::bigint and size > ${index}::int)
        and (${after !== undefined} or last_at >= ${cutoff})
      order by page limit 1),
    newest as (${newestPage(accountId)}),
    ends as (
      select (select page from newest)::text as "newestPage", (select size from newest)::int as "newestSize",
        coalesce((${page}::bigint, ${index}::int) < (
          select page, size::int from account_event_start where account_id = ${accountId}), false)
          or coalesce((select last_at < ${cutoff} from first), false) as behind,
        ${page}::bigint > coalesce((select page from newest), 0) as ahead),
    ${eventsAfter(accountId, { page, index }, limit, sql`(select page from first)`)}
    select ends.behind and ${after !== undefined} as expired, ends.ahead as unknown,
      ends."newestPage", ends."newestSize", e.page::text, e.place::int,
      e.message_id as "messageId", e.event_id as "eventId",
      case when m.id is null then null when e.event_id = e.message_id then 'accepted' else v.kind end as kind,
      case when e.event_id = e.message_id then m.accepted_at else v.at end as at,
      v.recipient, coalesce(v.detail::jsonb - 'transcript', '{}') as detail, m.template_id as "templateId", m.tag,
      m.external_id as "externalId", ${sql.raw(isTest('e.days'))} as test, m.content -> 'attributes' as attributes,
      ${sql.raw(recipientAddress('m', 'v.recipient'))} as address
    from ends
    left join events e on true
    -- The limit makes each a lookup by key, whatever the planner estimates.
    left join lateral (
      select kind, at, recipient, detail from message_event
      where account_id = ${accountId} and message_id = e.message_id and id = e.event_id and retention_days = e.days limit 1
    ) as v on e.event_id <> e.message_id
    left join lateral (
      select id, accepted_at, template_id, tag, external_id, content from message
      where account_id = ${accountId} and id = e.message_id and retention_days = e.days limit 1
    ) as m on true
    order by e.page, e.place`;
  const [first] = rows;
  if (first?.unknown === true) return { outcome: 'unknown' };
  if (first?.expired === true) return { outcome: 'expired' };
  const events: AccountEvent[] = [];
  // Without anything to read, a reader of the oldest event waits for the next one, wherever the deleted ones were.
  let end: EventPosition =
    after === undefined && first?.newestPage != null
      ? { page: first.newestPage, index: first.newestSize ?? 0 }
      : { page, index };
  for (const row of rows) {
    const { expired: _, unknown: __, newestPage: ___, newestSize: ____, ...found } = row;
    const { page, place, kind, at, ...rest } = found;
    if (page === null) continue;
    end = { page, index: place };
    if (kind !== null && at !== null) events.push({ ...rest, kind, at, position: end });
  }
  return { outcome: 'read', events, end };
}

/** The position after an account's newest event. */
export async function newestEventPosition(
  kysely: Kysely,
  accountId: AccountId,
): Promise<EventPosition> {
  const row = await firstRow<EventPosition>(kysely)`
    select page::text, size::int as index from (${newestPage(accountId)}) as newest`;
  return row ?? { page: '0', index: 0 };
}

/** Every account, for work on each of them in turn. */
export async function listAccountIds(kysely: Kysely): Promise<AccountId[]> {
  const rows = await allRows<{ id: AccountId }>(kysely)`select id from account order by id`;
  return rows.map(({ id }) => id);
}

/** Pages per statement. */
const removeChunk = 1_000;

/** Deletes an account's pages that are past its retention, oldest first, and remembers where the rest starts. */
export async function removeOldEventPages(kysely: Kysely, accountId: AccountId): Promise<void> {
  for (;;) {
    const rows = await allRows<{ removed: number }>(kysely)`
      with oldest as (
        select page, last_at from account_event_page where account_id = ${accountId} order by page limit ${removeChunk}),
      kept as (
        select min(page) as page from oldest
        where last_at >= now() - (select retention_days from account where id = ${accountId}) * interval '1 day'),
      removed as (
        delete from account_event_page where account_id = ${accountId} and page in (
          select page from oldest where page < coalesce((select page from kept), 9223372036854775807))
        returning page, size),
      started as (
        insert into account_event_start (account_id, page, size)
        select ${accountId}, page, size from removed order by page desc limit 1
        on conflict (account_id) do update set page = excluded.page, size = excluded.size
        where account_event_start.page < excluded.page)
      select count(*)::int as removed from removed`;
    if ((rows[0]?.removed ?? 0) < removeChunk) return;
  }
}
