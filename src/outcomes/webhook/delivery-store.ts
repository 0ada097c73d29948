import { sql } from 'kysely';
import type { Permission } from '../../accounts/access/permission.ts';
import { webhookLogsLocked } from '../../base/database/advisory-locks.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import { recipientAddress, traceContext } from '../../content/message/message-sql.ts';
import { isTest } from '../../content/message/test-class.ts';
import { suspectAfter } from '../../sending/queue/attempt.ts';
import { deleteInBatches } from '../retention/delete-old-store.ts';
import { asReadableBy } from './describe-event.ts';
import {
  type DeliveryState,
  openSendable,
  type SendableEndpoint,
  type SendableRow,
  sendableColumns,
} from './endpoint-store.ts';
import { isSuccess, type WebhookExchange } from './post-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import type { WebhookEvent } from './webhook-format.ts';
import type { WebhookFormatName } from './webhook-formats.ts';

/** A pending event for an endpoint, with the contents of its body. */
export interface PendingDelivery extends WebhookEvent {
  readonly attempts: number;
  /** Milliseconds since it was due. */
  readonly age: number;
  /** The trace context of the message; null if it isn't known or wasn't asked for. */
  readonly trace: unknown;
}

/** An endpoint of an account. */
export interface EndpointKey {
  readonly accountId: AccountId;
  readonly endpointId: string;
}

/** Pending events of some messages, leased to deliver those of each message in order. */
export interface LeasedDeliveries extends EndpointKey {
  /** Unique per claim. Writes that don't match it and the end of the lease change nothing. */
  readonly owner: string;
  readonly until: string;
  /** Monotonic time of the end of the lease. */
  readonly endsAt: number;
  /** Leases of the first event, up to this one, that ended without a result. From `suspectAfter` on it is leased alone. */
  readonly orphaned: number;
  /** Consecutive ones of each message. */
  readonly messages: readonly (readonly PendingDelivery[])[];
}

/** Max events of a message per claim; each may take as long as a request timeout. */
const maxClaimed = 8;
const leaseMs = 60_000;
/** From so many orphaned leases, of which it was alone in some, an event isn't sent again. The lease of a suspect also covers waiting. */
export const parkAfter = 4;

/** SQL: the `WebhookEnvelope` of a message `m`; null for an endpoint with our own format, which doesn't need it. */
const envelopeFor = ({ accountId, endpointId }: EndpointKey) => sql`
  case when (select format from webhook_endpoint where account_id = ${accountId} and id = ${endpointId}) <> 'signalpost'
    then json_build_object('from', m.content -> 'from', 'subject', m.content -> 'subjectLine', 'sendAt', m.content -> 'sendAt') end`;

/**
 * Leases the next due events of some messages for an endpoint, so no one else delivers events of these messages. A claim isn't
 * flushed: if a crash of the database undoes it, its writes change nothing.
 * @param maxMessages how many messages at most
 * @param traced also read the trace context of each message
 * @returns `busy` if another process is claiming the same events
 */
export async function claimDeliveries(
  kysely: Kysely,
  { accountId, endpointId }: EndpointKey,
  { maxMessages = 1, traced = false } = {},
): Promise<LeasedDeliveries | 'none' | 'busy'> {
  const owner = newId();
  const startedAt = performance.now();
  const own = sql`d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.state = 'pending'`;
  const isFree = sql`(d.claimed_until is null or d.claimed_until <= moment.now)`;
  const nextOf = (bulk: boolean) => sql`(
    select d.message_id from webhook_delivery d cross join moment
    cross join lateral (
      select due_at, claimed_until from webhook_delivery h
      where h.account_id = ${accountId} and h.endpoint_id = ${endpointId} and h.message_id = d.message_id and h.state = 'pending'
      order by h.place limit 1) as head
    where ${own} and d.bulk = ${sql.lit(bulk)} and d.due_at <= moment.now
      and head.due_at <= moment.now and (head.claimed_until is null or head.claimed_until <= moment.now)
    order by d.due_at limit ${maxMessages})`;
  const rows = await allRows<
    PendingDelivery & {
      readonly until: string;
      readonly leaseMs: number;
      readonly orphaned: number;
    }
  >(kysely)`
    with moment as materialized (
      select now() as now where set_config('synchronous_commit', 'off', true) is not null),
    next as materialized (
      select message_id from (${nextOf(false)} union all ${nextOf(true)}) as either
      where exists (
        select from webhook_endpoint
        where account_id = ${accountId} and id = ${endpointId} and paused_at is null and resumed_place is null)
      limit ${maxMessages}),
    found as materialized (
      select f.message_id, f.event_id from (select distinct message_id from next) as n cross join lateral (
        select d.message_id, d.event_id from webhook_delivery d where ${own} and d.message_id = n.message_id
        order by d.place limit ${maxClaimed}) as f),
    locked as materialized (
      select d.message_id, d.event_id, d.place, d.orphaned + case when d.lease_owner is null then 0 else 1 end as orphaned
      from webhook_delivery d cross join moment
      where ${own} and d.event_id in (select event_id from found) and ${isFree}
      order by d.place for update of d skip locked),
    -- The first event of each message of which all were free.
    first as materialized (
      select distinct on (message_id) message_id, place, orphaned from locked
      where (select count(*) from found f where f.message_id = locked.message_id)
        = (select count(*) from locked l where l.message_id = locked.message_id)
      order by message_id, place),
    suspect as materialized (
      select message_id, place from first where orphaned >= ${suspectAfter} order by place limit 1),
    leased as (
      update webhook_delivery d
      set lease_owner = ${owner},
        claimed_until = moment.now + case when exists (select from suspect) then 3 else 1 end * ${leaseMs}::float8 * interval '1 ms',
        orphaned = case when d.place = first.place then first.orphaned else d.orphaned end
      from locked l, first, moment
      where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = l.event_id
        and first.message_id = l.message_id
        and (not exists (select from suspect) or l.place = (select place from suspect))
      returning d.*, first.place as first_place)
    select d.event_id as "eventId", d.message_id as "messageId", d.kind, d.recipient, d.event_at as at, d.detail, d.attempts,
      extract(epoch from now() - d.due_since)::float8 * 1000 as age, m.template_id as "templateId", m.tag,
      m.external_id as "externalId", ${sql.raw(isTest('d.retention_days'))} as test, d.claimed_until::text as until,
      extract(epoch from d.claimed_until - now())::float8 * 1000 as "leaseMs", d.orphaned,
      m.content -> 'attributes' as attributes, ${sql.raw(recipientAddress('m', 'd.recipient'))} as address,
      ${envelopeFor({ accountId, endpointId })} as envelope, ${sql.raw(traced ? traceContext('m') : 'null')} as trace
    from (select from next limit 1) as any_next
    left join leased d on true
    left join lateral (
      select * from message m
      where m.account_id = ${accountId} and m.id = d.message_id and m.retention_days = d.retention_days limit 1) as m on true
    order by d.first_place, d.place`;
  const [first] = rows;
  if (first === undefined) return 'none';
  if (first.eventId === null) return 'busy';
  const { until, orphaned } = first;
  const endsAt = startedAt + first.leaseMs;
  const messages = [...Map.groupBy(rows, ({ messageId }) => messageId).values()];
  return { accountId, endpointId, owner, until, endsAt, orphaned, messages };
}

/** SQL: true for rows of a lease. */
const isLeased = ({ accountId, endpointId, owner, until }: LeasedDeliveries) => sql`
  account_id = ${accountId} and endpoint_id = ${endpointId} and lease_owner = ${owner} and claimed_until = ${until}::timestamptz`;

/** SQL: shares the lock of an endpoint's log. */
const logShared = ({ endpointId }: EndpointKey) =>
  webhookLogsLocked('shared', sql`select ${endpointId}`);

/** Ends a lease without results for some events: they are due as before. */
export async function releaseLease(
  kysely: Kysely,
  lease: LeasedDeliveries,
  eventIds: readonly string[],
): Promise<void> {
  await run(kysely)`
    update webhook_delivery set lease_owner = null, claimed_until = null
    where ${logShared(lease)} and ${isLeased(lease)} and event_id = any (${eventIds}::uuid[]) and state = 'pending'`;
}

/** How many tries of an event are kept; its retries alone are about 20. */
const maxTries = 25;

/** The end of an attempt. */
export type AttemptEnd =
  | { readonly state: 'delivered' | 'failed' }
  /** Tried again, and with it what follows of the message. */
  | { readonly state: 'pending'; readonly retryMs: number };

/** An attempt to deliver an event. */
export interface DeliveryAttempt extends Pick<PendingDelivery, 'eventId' | 'messageId'> {
  readonly end: AttemptEnd;
  readonly request: string;
  readonly exchange: WebhookExchange;
}

/**
 * Records attempts for different messages, in the order of their ends, with requests and responses, which may contain personal data;
 * both are omitted if the recipient was erased meanwhile. Records also whether the endpoint works. A retry ends the lease of the
 * message.
 * @returns `own`: the events whose attempts count; someone else has leased the others since. `endpoint`: as it is now
 */
export async function recordDeliveryAttempts(
  { kysely, box }: { readonly kysely: Kysely; readonly box: SecretBox },
  lease: LeasedDeliveries,
  attempts: readonly DeliveryAttempt[],
): Promise<{ readonly own: ReadonlySet<string>; readonly endpoint: SendableEndpoint | undefined }> {
  const { accountId, endpointId } = lease;
  const records = attempts.map(({ eventId, messageId, end, request, exchange }) => ({
    event_id: eventId,
    message_id: messageId,
    state: end.state,
    retry_ms: end.state === 'pending' ? end.retryMs : null,
    request,
    status: exchange.status,
    answer: exchange.text,
    duration_ms: exchange.durationMs,
    headers: { requestHeaders: exchange.requestHeaders, responseHeaders: exchange.responseHeaders },
  }));
  const isHealthy = isSuccess(attempts.at(-1)?.exchange.status ?? 0);
  const failingSince = isHealthy ? sql`null::timestamptz` : sql`coalesce(failing_since, now())`;
  const row = await firstRow<SendableRow & { own: string[] }>(kysely)`
    with record as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r(
        event_id uuid, message_id uuid, state text, retry_ms float8, request text, status int, answer text, duration_ms int,
        headers jsonb)
      where ${logShared(lease)}
      -- Otherwise the planner expects 100, and would rather read all rows of the account.
      limit ${sql.lit(records.length)}),
    -- Before the entries, like a resume.
    health as (
      update webhook_endpoint set failing_since = ${failingSince}
      where account_id = ${accountId} and id = ${endpointId} and (failing_since is null) <> ${isHealthy}::boolean
        and exists (select from record)
      returning id),
    tried as (
      update webhook_delivery d
      set state = r.state, lease_owner = null, claimed_until = null, orphaned = 0, attempts = attempts + 1, last_at = now(),
        last_status = r.status, due_at = now() + coalesce(r.retry_ms, 0) * interval '1 ms',
        last_request = case when erased then null else r.request end,
        last_answer = case when erased then null else r.answer end,
        tries = case when erased then tries
          else (case when jsonb_array_length(tries) < ${maxTries} then tries else tries - 0 end) || (r.headers
            || jsonb_build_object('at', now(), 'status', r.status, 'durationMs', r.duration_ms, 'answer', r.answer)) end
      from record r
      where ${isLeased(lease)} and d.event_id = r.event_id
        and (select count(*) from health) >= 0
      returning d.event_id, d.message_id, d.due_at, r.retry_ms),
    later as (
      update webhook_delivery w set lease_owner = null, claimed_until = null, due_at = tried.due_at
      from tried
      where tried.retry_ms is not null and w.account_id = ${accountId} and w.endpoint_id = ${endpointId}
        and w.message_id = tried.message_id and w.state = 'pending' and w.event_id <> tried.event_id)
    select array(select event_id from tried)::text[] as own, ${sendableColumns(failingSince)}
    from (select) as one
    left join webhook_endpoint on account_id = ${accountId} and id = ${endpointId}`;
  return { own: new Set(row?.own), endpoint: openSendable(box, row) };
}

/** Gives up an event before it is sent, and says why in its log entry. */
export async function parkDelivery(
  kysely: Kysely,
  lease: LeasedDeliveries,
  eventId: string,
  reason: string,
): Promise<void> {
  await run(kysely)`
    update webhook_delivery
    set state = 'failed', lease_owner = null, claimed_until = null, orphaned = 0, last_at = now(), last_status = 0,
      last_answer = ${`not sent: ${reason}`}
    where ${isLeased(lease)} and event_id = ${eventId}`;
}

/** An entry in an endpoint's log. */
export interface LoggedDelivery
  extends Pick<PendingDelivery, 'eventId' | 'messageId' | 'kind' | 'at' | 'address' | 'attempts'> {
  readonly state: DeliveryState;
  readonly lastAt: Date | null;
  /** 0 means no response. */
  readonly lastStatus: number | null;
  readonly lastRequest: string | null;
  readonly lastAnswer: string | null;
  /** When it is sent next; null if it isn't waiting or its endpoint is paused. */
  readonly nextAt: Date | null;
  /** Cursor for the next page. */
  readonly place: string;
}

/** Columns of `LoggedDelivery`, for a delivery `d` and its message `m`. */
const logColumns = sql`
  d.event_id as "eventId", d.message_id as "messageId", d.kind, d.event_at as at, d.state, d.attempts, d.last_at as "lastAt",
  d.last_status as "lastStatus", d.last_request as "lastRequest", d.last_answer as "lastAnswer", d.place::text as place,
  case when d.state = 'pending' and (
    select paused_at is null from webhook_endpoint w where w.account_id = d.account_id and w.id = d.endpoint_id)
    then d.due_at end as "nextAt",
  ${sql.raw(recipientAddress('m', 'd.recipient'))} as address`;

const messageOfDelivery = sql`
  left join message m on m.account_id = d.account_id and m.id = d.message_id and m.retention_days = d.retention_days`;

/**
 * An endpoint's log, newest first. The state is a literal in the SQL so that the planner can use the partial index on
 * undelivered events.
 */
export async function readLog(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  options: {
    readonly state?: DeliveryState | undefined;
    readonly messageId?: string | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<LoggedDelivery[]> {
  const { state, messageId, before, limit } = options;
  return await allRows<LoggedDelivery>(kysely)`
    select ${logColumns}
    from (
      select * from webhook_delivery l
      where account_id = ${accountId} and endpoint_id = ${endpointId}
        and ${state === undefined ? sql`true` : sql`state = ${sql.lit(state)}`}
        and ${messageId === undefined ? sql`true` : sql`message_id = ${messageId}`}
        and ${before === undefined ? sql`true` : sql`place < ${before}::bigint`}
      order by l.place desc limit ${limit}) d
    ${messageOfDelivery}
    order by d.place desc`;
}

/** One try of an event. */
interface DeliveryTry extends Omit<WebhookExchange, 'text'> {
  readonly at: string;
  /** The `text` of the exchange. */
  readonly answer: string;
}

/** An entry in an endpoint's log, with all its tries. */
export interface DeliveryDetail extends LoggedDelivery {
  /** The latest attempts, newest first. */
  readonly tries: readonly DeliveryTry[];
  /** What the next request would contain. */
  readonly event: WebhookEvent;
  readonly format: WebhookFormatName;
}

/** An entry of an endpoint's log. */
export async function readDelivery(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  eventId: string,
): Promise<DeliveryDetail | undefined> {
  const row = await firstRow<
    LoggedDelivery &
      WebhookEvent &
      Pick<DeliveryDetail, 'format'> & { tries: DeliveryTry[]; permissions: Permission[] }
  >(kysely)`
    select ${logColumns}, d.tries, d.recipient, d.detail, m.template_id as "templateId", m.tag, m.external_id as "externalId",
      ${sql.raw(isTest('d.retention_days'))} as test, m.content -> 'attributes' as attributes,
      ${envelopeFor({ accountId, endpointId })} as envelope, w.permissions, w.format
    from webhook_delivery d join webhook_endpoint w on w.account_id = d.account_id and w.id = d.endpoint_id ${messageOfDelivery}
    where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = ${eventId}`;
  if (row === undefined) return undefined;
  const { tries, recipient, detail, templateId, tag, externalId, test, attributes, ...rest } = row;
  const { permissions, envelope, ...entry } = rest;
  const { kind, at, messageId, address } = entry;
  const message = { messageId, templateId, tag, externalId, test, attributes };
  const event = { eventId, kind, at, recipient, detail, address, envelope, ...message };
  return {
    ...entry,
    event: asReadableBy({ permissions: new Set(permissions) }, event),
    tries: tries.toReversed(),
  };
}

/** Replays one event. @returns how many were replayed */
export async function replayDelivery(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  eventId: string,
): Promise<number> {
  const key = { accountId, endpointId };
  return await makePending(kysely, key, sql`bulk = false`, sql`event_id = ${eventId}`);
}

/** Which events a replay selects. */
export interface ReplaySelection {
  readonly from: Date;
  readonly until: Date;
  /** Undefined: all, also those that wait for their next try. */
  readonly state: 'delivered' | 'failed' | undefined;
}

/** Log entries per statement, since a log can have millions. */
const rangeSize = 500;

/**
 * Replays the selected events in the next range of an endpoint's log, after new ones.
 * @param after, upTo places in the log; the range ends at `upTo` at the latest
 * @returns the number of events, and where the range ends
 */
export async function replayRange(
  kysely: Kysely,
  { accountId, endpointId, replayId }: EndpointKey & { readonly replayId: string },
  { from, until, state }: ReplaySelection,
  after: string,
  upTo: string,
): Promise<{ readonly events: number; readonly end: string }> {
  const rows = await allRows<{ end: string | null }>(kysely)`
    select max(place)::text as end from (
      select l.place from webhook_delivery l
      where account_id = ${accountId} and endpoint_id = ${endpointId} and l.place > ${after}::bigint and l.place <= ${upTo}::bigint
      order by l.place limit ${rangeSize}) as s`;
  const end = rows[0]?.end ?? upTo;
  const events = await makePending(
    kysely,
    { accountId, endpointId },
    sql`bulk = true, replay_id = ${replayId}`,
    sql`event_at >= ${from} and event_at < ${until} and place > ${after}::bigint and place <= ${end}::bigint
      and ${state === undefined ? sql`true` : sql`state = ${state}`}`,
  );
  return { events, end };
}

/**
 * Makes log entries due now, with what else waits of their messages. Rows are locked in the order of the log, so that statements
 * that share some wait for each other instead of ending in a deadlock.
 * @returns the number of entries
 */
async function makePending(
  kysely: Kysely,
  { accountId, endpointId }: EndpointKey,
  change: ReturnType<typeof sql>,
  which: ReturnType<typeof sql>,
): Promise<number> {
  const row = await firstRow<{ count: number }>(kysely)`
    with chosen as materialized (
      select event_id, message_id from webhook_delivery
      where ${logShared({ accountId, endpointId })} and account_id = ${accountId} and endpoint_id = ${endpointId} and ${which}
      order by place for update),
    changed as (
      update webhook_delivery set state = 'pending', due_since = now(), due_at = now(), orphaned = 0, ${change}
      where account_id = ${accountId} and endpoint_id = ${endpointId} and event_id = any (array(select event_id from chosen))),
    hurried as (
      update webhook_delivery set due_at = now()
      where account_id = ${accountId} and endpoint_id = ${endpointId} and state = 'pending' and due_at > now()
        and message_id = any (array(select distinct message_id from chosen)) and event_id not in (select event_id from chosen))
    select count(*)::int as count from chosen`;
  return row?.count ?? 0;
}

/** Log entries per statement of a resume. */
const resumeSize = 1_000;

/**
 * Makes the next pending events of a resumed endpoint due again, as if they were new. Those of a long backlog come after new ones.
 * Nothing is sent to the endpoint until all are due.
 * @returns false once nothing is left
 */
export async function resumeNext(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
): Promise<boolean> {
  const row = await firstRow<{ more: boolean }>(kysely)`
    with endpoint as materialized (
      select resumed_place from webhook_endpoint
      where account_id = ${accountId} and id = ${endpointId} and resumed_place is not null for update skip locked),
    part as materialized (
      select event_id, place from webhook_delivery d
      where account_id = ${accountId} and endpoint_id = ${endpointId} and state = 'pending'
        and d.place > (select resumed_place from endpoint)
      order by d.place limit ${resumeSize} for update),
    changed as (
      update webhook_delivery set due_at = now(), due_since = now(),
        bulk = bulk or (select resumed_place from endpoint) > 0 or (select count(*) from part) = ${resumeSize}
      where account_id = ${accountId} and endpoint_id = ${endpointId} and event_id = any (array(select event_id from part))),
    moved as (
      update webhook_endpoint w
      set resumed_place = case when (select count(*) from part) = ${resumeSize} then (select max(place) from part) end
      from endpoint where w.account_id = ${accountId} and w.id = ${endpointId}
      returning w.resumed_place)
    select resumed_place is not null as more from moved`;
  return row?.more ?? false;
}

/** Removes old log entries; pending ones are kept. */
export async function removeOldDeliveries(kysely: Kysely): Promise<void> {
  const statement = sql`
    delete from webhook_delivery where (account_id, endpoint_id, event_id) in (
      select account_id, endpoint_id, event_id from webhook_delivery
      where state <> 'pending' and last_at < now() - interval '30 days' limit 5000
      for update skip locked)`;
  await deleteInBatches(kysely, 5_000, statement);
}
