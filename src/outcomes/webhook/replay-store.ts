import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import { type EndpointKey, type ReplaySelection, replayRange } from './delivery-store.ts';

/** Identifies a replay. */
interface ReplayKey extends EndpointKey {
  readonly replayId: string;
}

/** A replay of a period and its progress. */
export interface WebhookReplay extends Omit<ReplaySelection, 'state'> {
  readonly id: string;
  readonly state: 'delivered' | 'failed' | null;
  /** Events selected so far. */
  readonly events: number;
  /** Selected events that still wait; at most `maxCountedWaiting`. */
  readonly waiting: number;
  readonly createdAt: Date;
  /** When all events were selected. */
  readonly selectedAt: Date | null;
}

/** How many waiting events are counted. */
export const maxCountedWaiting = 10_000;

const keptReplays = 10;

/**
 * Starts a replay of a period of an endpoint's log, as it is now, and removes old ones.
 * @returns its id; undefined if one is running or the endpoint doesn't exist
 */
export async function startReplay(
  transaction: Kysely,
  accountId: AccountId,
  endpointId: string,
  { from, until, state }: ReplaySelection,
): Promise<string | undefined> {
  const replayId = newId();
  const rows = await allRows(transaction)`
    insert into webhook_replay (account_id, endpoint_id, id, from_at, until_at, state, up_to_place)
    select account_id, id, ${replayId}, ${from}, ${until}, ${state ?? null}, coalesce((
      select max(place) from webhook_delivery where account_id = ${accountId} and endpoint_id = ${endpointId}), 0)
    from webhook_endpoint where account_id = ${accountId} and id = ${endpointId}
    on conflict do nothing returning 1`;
  if (rows.length === 0) return undefined;
  await run(transaction)`
    delete from webhook_replay where account_id = ${accountId} and endpoint_id = ${endpointId} and id in (
      select id from webhook_replay where account_id = ${accountId} and endpoint_id = ${endpointId}
      order by created_at desc, id desc offset ${keptReplays})`;
  return replayId;
}

/**
 * Selects the next events of an account's replays, one range of each. A range is one commit with its progress, so another process
 * continues where one died; one that has a replay is left alone.
 */
export async function selectReplayed(
  kysely: Kysely,
  accountId: AccountId,
): Promise<{ readonly endpointIds: readonly string[]; readonly mayHaveMore: boolean }> {
  const rows = await allRows<{ endpointId: string; replayId: string }>(kysely)`
    select endpoint_id as "endpointId", id as "replayId" from webhook_replay
    where account_id = ${accountId} and finished_at is null`;
  let mayHaveMore = false;
  for (const { endpointId, replayId } of rows) {
    const key = { accountId, endpointId, replayId };
    const isUnfinished = await kysely
      .transaction()
      .execute((transaction) => selectNext(transaction, key));
    mayHaveMore ||= isUnfinished;
  }
  return { endpointIds: rows.map(({ endpointId }) => endpointId), mayHaveMore };
}

/** @returns false once nothing is left */
async function selectNext(transaction: Kysely, key: ReplayKey): Promise<boolean> {
  const { accountId, endpointId, replayId } = key;
  const replay = await firstRow<{
    from: Date;
    until: Date;
    state: 'delivered' | 'failed' | null;
    after: string;
    upTo: string;
  }>(transaction)`
    select from_at as "from", until_at as until, state, after_place::text as after, up_to_place::text as "upTo"
    from webhook_replay
    where account_id = ${accountId} and endpoint_id = ${endpointId} and id = ${replayId} and finished_at is null
    for update skip locked`;
  if (replay === undefined) return false;
  const { from, until, state, after, upTo } = replay;
  const selection = { from, until, state: state ?? undefined };
  const { events, end } = await replayRange(transaction, key, selection, after, upTo);
  const isDone = BigInt(end) >= BigInt(upTo);
  await run(transaction)`
    update webhook_replay set after_place = ${end}::bigint, events = events + ${events}, changed_at = now(),
      finished_at = ${isDone ? sql`now()` : null}
    where account_id = ${accountId} and endpoint_id = ${endpointId} and id = ${replayId}`;
  return !isDone;
}

/** The latest replays of an endpoint, newest first. */
export async function readReplays(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
): Promise<WebhookReplay[]> {
  return await allRows<WebhookReplay>(kysely)`
    select r.id, r.from_at as "from", r.until_at as until, r.state, r.events, r.created_at as "createdAt",
      r.finished_at as "selectedAt", (
        select count(*) filter (where w.replay_id = r.id) from (
          select replay_id from webhook_delivery d
          where d.account_id = r.account_id and d.endpoint_id = r.endpoint_id and d.state = 'pending' and d.place <= r.up_to_place
          order by d.place limit ${maxCountedWaiting}) w)::int as waiting
    from webhook_replay r where r.account_id = ${accountId} and r.endpoint_id = ${endpointId}
    order by r.created_at desc, r.id desc`;
}
