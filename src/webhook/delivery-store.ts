import { sql } from 'kysely';
import { type FeedRange, inWindow } from '../feedback/feed/feed-window-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { WebhookKind } from '../message/event-kinds.ts';
import { recipientAddress, traceContext } from '../message/message-sql.ts';
import type { AccountEvent } from './account-event-store.ts';
import type { WebhookExchange } from './post-webhook.ts';

type Kysely = Database['kysely'];

/** A pending event for an endpoint, with the contents of its body. */
export interface PendingDelivery {
  readonly eventId: string;
  readonly kind: WebhookKind;
  readonly recipient: number | null;
  readonly at: Date;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly attempts: number;
  /** Milliseconds since it was due. */
  readonly age: number;
  readonly templateId: string | null;
  readonly tag: string | null;
  readonly externalId: string | null;
  /** Of the message; null if it has none or they were erased. */
  readonly attributes: Readonly<Record<string, string>> | null;
  /** Null once erased. */
  readonly address: string | null;
  /** The trace context of the message; null if it isn't known or wasn't asked for. */
  readonly trace: unknown;
  /** Identifies the claim. Writes that don't match it change nothing. */
  readonly claim: string;
}

/**
 * Jobs are keyed by endpoint and message, and one job delivers all pending events of its message. The flag is the
 * account, so workers can be shared fairly between accounts. Rows and jobs are always locked in the same order, so that
 * statements that share some wait for each other instead of ending in a deadlock.
 * @param mode whether a job waiting for a retry keeps its time (`preserve_run_at`) or runs now (`replace`)
 */
const addJobs = (mode: 'preserve_run_at' | 'replace', priority = sql`0`) => sql`
  graphile_worker.add_job('webhook',
    json_build_object('accountId', d.account_id, 'endpointId', d.endpoint_id, 'messageId', d.message_id),
    job_key => d.account_id || ' ' || d.endpoint_id || ' ' || d.message_id, job_key_mode => ${sql.lit(mode)}, max_attempts => 25,
    flags => array['account ' || d.account_id], priority => ${priority})`;

/**
 * Pending events above which an account has a long backlog. Its jobs get lower priority so they don't delay other
 * accounts.
 */
const longBacklog = 1_000;

/** Writes a window's events for subscribed endpoints and their delivery jobs in one commit. */
export async function enqueueWindow(transaction: Kysely, range: FeedRange): Promise<void> {
  await sql`
    with found as (
      select m.account_id, m.id as event_id, m.id as message_id, m.retention_days, 'accepted' as kind, null::smallint as recipient,
        m.accepted_at as at, '{}'::json as detail, m.tx
      from message m where ${inWindow(range, 'm')}
      union all
      select account_id, id, message_id, retention_days, kind, recipient, at,
        (detail::jsonb - 'transcript')::json, tx
      from message_event where ${inWindow(range, 'message_event')}),
    written as (
      insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, recipient, event_at, detail)
      select f.account_id, w.id, f.event_id, f.message_id, f.retention_days, f.kind, f.recipient, f.at, f.detail
      from found f join webhook_endpoint w on w.account_id = f.account_id and f.kind = any (w.kinds)
      order by f.tx, f.at, f.event_id
      on conflict do nothing
      returning account_id, endpoint_id, message_id),
    backlog as (
      select account_id, (select count(*) from (
        select from webhook_delivery w where w.account_id = a.account_id and state = 'pending' limit ${longBacklog}) as p) as count
      from (select distinct account_id from written) as a)
    select ${addJobs('preserve_run_at', sql`case when d.count < ${longBacklog} then 0 else 1 end`)}
    from (
      select distinct w.account_id, w.endpoint_id, w.message_id, b.count
      from written w join backlog b on b.account_id = w.account_id
      order by 1, 2, 3) as d`.execute(transaction);
}

/** Max events per claim; each may take as long as a request timeout. */
const maxClaimed = 8;
/** How long a claim lasts. */
const claimTime = '3 minutes';

/**
 * Claims the next pending events of one message for an endpoint, in order, so no other job delivers them concurrently.
 * @param traced also read the trace context of the message
 * @returns undefined if another job holds the claim
 */
export async function claimPending(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  messageId: MessageId,
  traced = false,
): Promise<PendingDelivery[] | undefined> {
  const { rows } = await sql<PendingDelivery & { readonly pending: number }>`
    with next as materialized (
      select event_id, claimed_until from webhook_delivery
      where account_id = ${accountId} and endpoint_id = ${endpointId} and message_id = ${messageId} and state = 'pending'
      order by place limit ${maxClaimed} for update),
    taken as (
      update webhook_delivery d set claimed_until = now() + interval ${sql.lit(claimTime)}
      from next n
      where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = n.event_id
        and not exists (select from next where claimed_until > now())
      returning d.*)
    select (select count(*) from next)::int as pending, d.event_id as "eventId", d.kind, d.recipient, d.event_at as at, d.detail, d.attempts,
      extract(epoch from now() - d.due_since)::float8 * 1000 as age, m.template_id as "templateId", m.tag,
      m.external_id as "externalId", d.claimed_until::text as claim,
      m.content -> 'attributes' as attributes, ${sql.raw(recipientAddress('m', 'd.recipient'))} as address,
      ${sql.raw(traced ? traceContext('m') : 'null')} as trace
    from (select) as one
    left join taken d on true
    left join message m on m.account_id = d.account_id and m.id = d.message_id and m.retention_days = d.retention_days
    order by d.place`.execute(kysely);
  const claimed = rows.filter(({ eventId }) => eventId !== null);
  const isHeld = claimed.length === 0 && (rows[0]?.pending ?? 0) > 0;
  return isHeld ? undefined : claimed;
}

/** Releases claimed events that were not tried, unless another job has claimed them since. */
export async function releaseClaims(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  claimed: readonly Pick<PendingDelivery, 'eventId' | 'claim'>[],
): Promise<void> {
  const [first] = claimed;
  if (first === undefined) return;
  const eventIds = claimed.map(({ eventId }) => eventId);
  await sql`
    with claimed as materialized (
      select event_id from webhook_delivery
      where account_id = ${accountId} and endpoint_id = ${endpointId} and event_id = any (${eventIds}::uuid[])
        and claimed_until = ${first.claim}::timestamptz
      order by place for update)
    update webhook_delivery d set claimed_until = null
    from claimed c
    where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = c.event_id`.execute(
    kysely,
  );
}

/** How many tries of an event are kept; its retries alone are about 20. */
const maxTries = 25;

/**
 * Records an attempt with its request and response, which may contain personal data; both are omitted if the recipient
 * was erased meanwhile.
 * @returns false if another job has claimed the event since; that job's result counts
 */
export async function recordDeliveryAttempt(
  kysely: Kysely,
  key: {
    readonly accountId: AccountId;
    readonly endpointId: string;
    readonly eventId: string;
    readonly claim: string;
  },
  attempt: {
    readonly state: DeliveryState;
    readonly request: string;
    readonly exchange: WebhookExchange;
  },
): Promise<boolean> {
  const { status, text, durationMs, requestHeaders, responseHeaders } = attempt.exchange;
  const headers = JSON.stringify({ requestHeaders, responseHeaders });
  const { numAffectedRows } = await sql`
    update webhook_delivery
    set state = ${attempt.state}, claimed_until = null, attempts = attempts + 1, last_at = now(), last_status = ${status},
      last_request = case when erased then null else ${attempt.request} end,
      last_answer = case when erased then null else ${text} end,
      tries = case when erased then tries
        else (case when jsonb_array_length(tries) < ${maxTries} then tries else tries - 0 end) || (${headers}::jsonb
          || jsonb_build_object('at', now(), 'status', ${status}::integer, 'durationMs', ${durationMs}::integer,
            'answer', ${text}::text)) end
    where account_id = ${key.accountId} and endpoint_id = ${key.endpointId} and event_id = ${key.eventId}
      and claimed_until = ${key.claim}::timestamptz`.execute(kysely);
  return numAffectedRows === 1n;
}

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** An entry in an endpoint's log. */
export interface LoggedDelivery {
  readonly eventId: string;
  readonly messageId: MessageId;
  readonly kind: WebhookKind;
  readonly at: Date;
  /** The recipient, or To if the event is about the whole message; null once erased. */
  readonly address: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastAt: Date | null;
  /** 0 means no response. */
  readonly lastStatus: number | null;
  readonly lastRequest: string | null;
  readonly lastAnswer: string | null;
  /** When it is tried again; null if it isn't waiting or the time isn't known. */
  readonly nextAt: Date | null;
  /** Cursor for the next page. */
  readonly place: string;
}

/** Columns of `LoggedDelivery`, for a delivery `d` and its message `m`. */
const logColumns = sql`
  d.event_id as "eventId", d.message_id as "messageId", d.kind, d.event_at as at, d.state, d.attempts, d.last_at as "lastAt",
  d.last_status as "lastStatus", d.last_request as "lastRequest", d.last_answer as "lastAnswer", d.place::text as place,
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
  const { rows } = await sql<Omit<LoggedDelivery, 'nextAt'>>`
    select ${logColumns}
    from (
      select * from webhook_delivery l
      where account_id = ${accountId} and endpoint_id = ${endpointId}
        and ${state === undefined ? sql`true` : sql`state = ${sql.lit(state)}`}
        and ${messageId === undefined ? sql`true` : sql`message_id = ${messageId}`}
        and ${before === undefined ? sql`true` : sql`place < ${before}::bigint`}
      order by l.place desc limit ${limit}) d
    ${messageOfDelivery}
    order by d.place desc`.execute(kysely);
  return await withNextTries(kysely, accountId, endpointId, rows);
}

/** One try of an event. */
interface DeliveryTry {
  readonly at: string;
  /** 0 means no response; `answer` then says why. */
  readonly status: number;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly answer: string;
}

/** An entry in an endpoint's log, with all its tries. */
export interface DeliveryDetail extends LoggedDelivery {
  /** The latest attempts, newest first. */
  readonly tries: readonly DeliveryTry[];
  /** What the next request would contain. */
  readonly event: Omit<AccountEvent, 'position'>;
}

/** An entry of an endpoint's log. */
export async function readDelivery(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  eventId: string,
): Promise<DeliveryDetail | undefined> {
  const { rows } = await sql<
    Omit<LoggedDelivery, 'nextAt'> & DeliveryDetail['event'] & { tries: DeliveryTry[] }
  >`
    select ${logColumns}, d.tries, d.recipient, d.detail, m.template_id as "templateId", m.tag, m.external_id as "externalId",
      m.content -> 'attributes' as attributes
    from webhook_delivery d ${messageOfDelivery}
    where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = ${eventId}`.execute(
    kysely,
  );
  const [row] = await withNextTries(kysely, accountId, endpointId, rows);
  if (row === undefined) return undefined;
  const { tries, recipient, detail, templateId, tag, externalId, attributes, ...entry } = row;
  const { kind, at, messageId, address } = entry;
  const message = { messageId, templateId, tag, externalId, attributes };
  return {
    ...entry,
    event: { eventId, kind, at, recipient, detail, address, ...message },
    tries: tries.toReversed(),
  };
}

/** Adds when pending events are sent next. */
async function withNextTries<Row extends Omit<LoggedDelivery, 'nextAt'>>(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  rows: readonly Row[],
): Promise<(Row & { nextAt: Date | null })[]> {
  const keyOf = ({ messageId }: Row) => `${accountId} ${endpointId} ${messageId}`;
  const keys = new Set(rows.filter(({ state }) => state === 'pending').map(keyOf));
  const times = new Map<string, Date>();
  if (keys.size > 0) {
    const jobs = await sql<{ key: string; runAt: Date }>`
      select key, run_at as "runAt" from graphile_worker.jobs where key = any(${[...keys]}::text[])`.execute(
      kysely,
    );
    for (const { key, runAt } of jobs.rows) times.set(key, runAt);
  }
  return rows.map((row) => ({
    ...row,
    nextAt: (row.state === 'pending' && times.get(keyOf(row))) || null,
  }));
}

/** Replays one event. @returns how many were replayed */
export async function replayDelivery(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  eventId: string,
): Promise<number> {
  return await enqueue(
    kysely,
    { accountId, endpointId },
    sql`state = 'pending', due_since = now()`,
    sql`event_id = ${eventId}`,
  );
}

/** Which events a replay selects. */
export interface ReplaySelection {
  readonly from: Date;
  readonly until: Date;
  /** Undefined: all, also those that wait for their next try. */
  readonly state: 'delivered' | 'failed' | undefined;
}

/** A range of an endpoint's log: after the first place, up to and including the last. */
export interface LogRange {
  readonly after: string;
  readonly upTo: string;
}

/** Log entries per statement, since a log can have millions. */
const rangeSize = 500;

/** The next range of an endpoint's log after a place. */
export async function nextLogRange(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  { after, upTo }: LogRange,
): Promise<LogRange> {
  const { rows } = await sql<{ end: string | null }>`
    select max(place)::text as end from (
      select l.place from webhook_delivery l
      where account_id = ${accountId} and endpoint_id = ${endpointId} and l.place > ${after}::bigint and l.place <= ${upTo}::bigint
      order by l.place limit ${rangeSize}) as s`.execute(kysely);
  return { after, upTo: rows[0]?.end ?? upTo };
}

/** Replays the selected events in one range of the log. @returns the number of events */
export async function replayRange(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
  replayId: string,
  { from, until, state }: ReplaySelection,
  { after, upTo }: LogRange,
): Promise<number> {
  return await enqueue(
    kysely,
    { accountId, endpointId },
    sql`state = 'pending', due_since = now(), replay_id = ${replayId}`,
    sql`event_at >= ${from} and event_at < ${until} and place > ${after}::bigint and place <= ${upTo}::bigint
      and ${state === undefined ? sql`true` : sql`state = ${state}`}`,
    sql`${bulkPriority}`,
  );
}

/** Creates jobs for events that were pending while an endpoint was paused. @returns the number of events */
export async function enqueuePending(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
): Promise<number> {
  return await enqueue(
    kysely,
    { accountId, endpointId },
    sql`due_since = now()`,
    sql`state = 'pending'`,
  );
}

/**
 * Creates jobs for events claimed by a process that died, since its own jobs stay locked for hours.
 * @returns the number of events
 */
export async function enqueueAbandoned(
  kysely: Kysely,
  accountId: AccountId,
  endpointId: string,
): Promise<number> {
  return await enqueue(
    kysely,
    { accountId, endpointId },
    sql`claimed_until = null`,
    sql`state = 'pending' and claimed_until < now()`,
  );
}

/**
 * Creates jobs for pending events that nobody has claimed while their job is locked for longer than a claim lasts: its process
 * died before it claimed them or recorded its end. A slow job between two claims may get a second one, which is harmless.
 */
export async function enqueueLocked(kysely: Kysely): Promise<void> {
  await sql`
    with locked as materialized (
      select split_part(key, ' ', 1) as account_id, split_part(key, ' ', 2)::uuid as endpoint_id, split_part(key, ' ', 3)::uuid as message_id
      from graphile_worker.jobs
      where task_identifier = 'webhook' and key is not null and locked_at < now() - interval ${sql.lit(claimTime)})
    select ${addJobs('replace')}
    from (
      select account_id, endpoint_id, message_id from locked l
      where (
        select bool_and(coalesce(w.claimed_until <= now(), true)) from webhook_delivery w
        where w.account_id = l.account_id and w.endpoint_id = l.endpoint_id and w.message_id = l.message_id and w.state = 'pending')
      order by 1, 2, 3) as d`.execute(kysely);
}

/** Whether a running job of a message has been replaced by a newer one, which makes its retries. */
export async function isReplaced(kysely: Kysely, jobId: string): Promise<boolean> {
  const { rows } = await sql`
    select from graphile_worker.jobs where id = ${jobId} and key is null`.execute(kysely);
  return rows.length > 0;
}

/** Removes replaced jobs whose end wasn't recorded. */
export async function removeReplacedJobs(kysely: Kysely): Promise<void> {
  await sql`
    select graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs
      where task_identifier = 'webhook' and key is null and attempts >= max_attempts
        and (locked_at is null or locked_at < now() - interval '4 hours')))`.execute(kysely);
}

/** Live events go first. */
const bulkPriority = 2;

/**
 * Updates log entries and creates jobs for them.
 * @param priority of the jobs; by default, that of bulk jobs if there are many
 * @returns the number of entries
 */
async function enqueue(
  kysely: Kysely,
  { accountId, endpointId }: { readonly accountId: AccountId; readonly endpointId: string },
  change: ReturnType<typeof sql>,
  which: ReturnType<typeof sql>,
  priority = sql`case when (select count(*) from changed) < ${longBacklog} then 0 else ${bulkPriority} end`,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with chosen as materialized (
      select event_id from webhook_delivery
      where account_id = ${accountId} and endpoint_id = ${endpointId} and ${which}
      order by place for update),
    changed as (
      update webhook_delivery d set ${change}
      from chosen c
      where d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = c.event_id
      returning d.account_id, d.endpoint_id, d.message_id),
    jobs as (
      select ${addJobs('replace', priority)}
      from (select distinct account_id, endpoint_id, message_id from changed order by 1, 2, 3) as d)
    select (select count(*) from changed)::int as count, (select count(*) from jobs) as jobs`.execute(
    kysely,
  );
  return rows[0]?.count ?? 0;
}

/** Removes old log entries; pending ones are kept. */
export async function removeOldDeliveries(kysely: Kysely): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from webhook_delivery where (account_id, endpoint_id, event_id) in (
        select account_id, endpoint_id, event_id from webhook_delivery
        where state <> 'pending' and last_at < now() - interval '30 days' limit 5000)`.execute(
      kysely,
    );
    if (Number(numAffectedRows ?? 0n) < 5_000) return;
  }
}
