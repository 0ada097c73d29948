import { readDatabaseClock } from '../../base/database/database-time-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import { sendAtOf } from '../../content/message/message-content.ts';
import { scheduledReason } from '../../content/message/scheduled-class.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import { type ClaimedMessage, suspectAfter } from './attempt.ts';
import { runQueueStatement } from './queue-statement-store.ts';

/** Entries per statement, to keep locks short. */
const chunkSize = 1_000;

/**
 * Fixes times written before the database clock stepped back, which are now too far ahead. Waiting entries become due
 * now, since their true delay is unknown, except scheduled ones; leases end at most one lease from now; held messages stay held. Covers all
 * accounts, since they share the clock.
 * @returns how many entries were changed
 */
export async function rescheduleAfterClockStep(
  database: Database,
  leaseMs: number,
): Promise<number> {
  let changed = 0;
  for (;;) {
    const { rowCount } = await runQueueStatement(database, {
      name: 'queue-forget-old-times',
      text: rescheduleStatement,
      values: [leaseMs],
    });
    changed += rowCount ?? 0;
    if ((rowCount ?? 0) < chunkSize) return changed;
  }
}

const rescheduleStatement = `
  with moment as materialized (
    select now() as now, now() + $1::float8 * interval '1 ms' as lease_end),
  late as materialized (
    select q.account_id, q.message_id, q.recipient from queued_delivery q, moment
    where q.due_at < 'infinity' and q.reason is distinct from '${scheduledReason}'
      and q.due_at > case when q.lease_owner is null then moment.now else moment.lease_end end
    limit ${chunkSize} for update of q skip locked)
  update queued_delivery q
  set due_at = case when q.lease_owner is null then moment.now else moment.lease_end end
  from late, moment
  where q.account_id = late.account_id and q.message_id = late.message_id and q.recipient = late.recipient`;

type TimedMember = 'owner' | 'expired' | 'remainingMs' | 'deadlineAt' | 'leaseEndsAt';

/** A claimed message without what its claim adds. */
interface ClaimedRow extends Omit<ClaimedMessage, TimedMember> {
  readonly msLeft: number;
  /** Null without a deadline. */
  readonly msToDeadline: number | null;
}

/**
 * Claim sizes, written into the statement as constants. With an unknown limit, PostgreSQL's planner assumes a tenth of
 * the table and reads and sorts all of it.
 */
const claimSizes = [64, 32, 16, 8, 4, 2, 1] as const;

export type ClaimSize = (typeof claimSizes)[number];

/** Largest claim size that fits into the free slots. */
export function claimSize(max: number): ClaimSize {
  return claimSizes.find((size) => size <= max) ?? 1;
}

const clockCheckIntervalMs = 10_000;
/** Apparent backward step of the clock in milliseconds to tolerate, caused by slow replies and clock slewing. */
const clockToleranceMs = 5_000;

/** Messages whose deadline is this near go before the account's other messages. */
const nearDeadlineMinutes = 15;
/** Messages with a near deadline to look at for each one to claim, because many may be waiting for a retry. */
const nearPerClaimed = 2;
/** How long claims rely on what `findDueAccounts` found out about near deadlines; somewhat longer than between two polls. */
const nearKnownMs = 2_000;

interface DueAccount {
  account_id: AccountId;
  near: boolean;
}

/** Finds and leases due messages. */
export class ClaimStore {
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #nearKnownMs: number;
  #nextClockCheck = 0;
  /** Of the database clock from the monotonic clock of this process, in milliseconds. */
  #clockOffset = Number.NEGATIVE_INFINITY;
  /** Due accounts with a near deadline. */
  #near: ReadonlySet<AccountId> = new Set();
  #nearKnownUntil = 0;

  constructor(database: Database, leaseMs: number, knownMs = nearKnownMs) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#nearKnownMs = knownMs;
  }

  /**
   * Active, unpaused accounts with a due message. Uses a loose index scan, so the cost depends on the number of waiting
   * accounts, not messages.
   */
  async findDueAccounts(): Promise<AccountId[]> {
    const startedAt = performance.now();
    const { rows } = await runQueueStatement<DueAccount>(this.#database, {
      name: 'queue-find-due-accounts',
      text: `
        with recursive waiting (account_id, priority) as (
          (select account_id, priority from queued_delivery order by account_id, priority limit 1)
          union all
          select next.account_id, next.priority
          from waiting
          cross join lateral (
            select q.account_id, q.priority from queued_delivery q
            where (q.account_id, q.priority) > (waiting.account_id, waiting.priority)
            order by q.account_id, q.priority limit 1) next
        )
        select distinct waiting.account_id, (
            select true from queued_delivery q
            where q.account_id = waiting.account_id and ${isNear('now()')}
            limit 1) is not null as near
        from waiting
        where (
            select q.due_at from queued_delivery q
            where q.account_id = waiting.account_id and q.priority = waiting.priority
            order by q.due_at limit 1) <= now()
          and not exists (
            select from account a where a.id = waiting.account_id and a.suspended_at is not null)
          and not exists (
            select from delivery_pause p where p.account_id = waiting.account_id and p.destination = '*')`,
      values: [],
    });
    this.#near = new Set(rows.filter(({ near }) => near).map((row) => row.account_id));
    this.#nearKnownUntil = startedAt + this.#nearKnownMs;
    return rows.map((row) => row.account_id);
  }

  /**
   * Checks the database clock periodically. If it stepped back, reschedules entries that would otherwise wait too long.
   * Forward steps are harmless: leases expire early, which fences handle, and waiting messages are due sooner.
   * @returns how many entries were rescheduled; undefined if the clock did not step back
   */
  async checkClock(): Promise<number | undefined> {
    if (performance.now() < this.#nextClockCheck) return undefined;
    this.#nextClockCheck = performance.now() + clockCheckIntervalMs;
    const last = this.#clockOffset;
    this.#clockOffset = (await readDatabaseClock(this.#database.queuePool)) - performance.now();
    if (last - this.#clockOffset <= clockToleranceMs) return undefined;
    return rescheduleAfterClockStep(this.#database, this.#leaseMs);
  }

  /**
   * Leases up to `max` due messages of each account (rounded by `claimSize`), those near their deadline and transactional
   * ones first, and reads what is needed to send them. One short statement; no transaction stays open.
   * If an earlier lease expired in stage `dot`, this also records the recipient as uncertain before anything is resent. It
   * stays marked until an outcome settles it, whatever happens to this claim.
   *
   * The search for near deadlines costs an eighth of a claim, and hardly any message has one, so it is left out for
   * accounts that had none a moment ago.
   * @param accountIds different ones
   */
  async claim(accountIds: readonly AccountId[], max: number): Promise<ClaimedMessage[]> {
    const startedAt = performance.now();
    const owner = newId();
    const size = claimSize(max);
    const near = startedAt >= this.#nearKnownUntil || accountIds.some((id) => this.#near.has(id));
    const { rows } = await runQueueStatement<ClaimedRow>(this.#database, {
      name: near ? `queue-claim-near-${size}` : `queue-claim-${size}`,
      text: (near ? nearStatements : statements)[size],
      values: [accountIds, owner, this.#leaseMs],
    });
    return rows.map((row) => toClaimedMessage(row, owner, startedAt, this.#leaseMs));
  }
}

function isNear(now: string): string {
  return `q.deliver_before > ${now} and q.deliver_before <= ${now} + interval '${nearDeadlineMinutes} minutes'`;
}

/** The messages of an account with a near deadline, and how the others are kept from being found twice. */
function nearSearch(size: number) {
  const search = `
        near as materialized (
          select q.message_id, q.recipient from queued_delivery q
          where q.account_id = turn.account_id and ${isNear('moment.now')}
          order by q.deliver_before limit ${nearPerClaimed * size}),
        pressing as materialized (
          select ${found} from near join queued_delivery q using (message_id, recipient)
          where q.account_id = turn.account_id and q.due_at <= moment.now
          order by q.deliver_before limit ${size} for update of q skip locked),`;
  const others =
    'and (q.message_id, q.recipient) not in (select message_id, recipient from pressing)';
  return { search, others, first: 'select * from pressing union all ' };
}

const noSearch = { search: '', others: '', first: '' };
const found = 'q.message_id, q.recipient, q.stage';

/**
 * A claim isn't flushed. If a database crash undoes it, marking the dot fails because the owner no longer matches;
 * flushing a granted dot also flushes the claim. The owner is unique per claim because a fence can be reused after a
 * lost one.
 */
function claimStatement(size: number, { search, others, first } = noSearch): string {
  // Ordinary entries that are locked but not claimed are free again when the statement ends. The limited lateral join
  // keeps the planner at one index lookup per message, in the one partition `retention_days` names.
  return `
  with moment as materialized (
    select now() as now where set_config('synchronous_commit', 'off', true) is not null),
  turn as materialized (
    select turn.account_id from unnest((select $1::text[])) as turn (account_id)
    where not exists (select from account a where a.id = turn.account_id and a.suspended_at is not null)
      and not exists (
        select from delivery_pause p where p.account_id = turn.account_id and p.destination = '*')),
  due as materialized (
    select turn.account_id, due.message_id, due.recipient, due.stage
    from turn cross join moment cross join lateral (
      with${search}
        urgent as materialized (
          select ${found} from queued_delivery q
          where q.account_id = turn.account_id and q.priority = 0 and q.due_at <= moment.now ${others}
          order by q.due_at limit ${size} for update of q skip locked),
        ordinary as materialized (
          select ${found} from queued_delivery q
          where q.account_id = turn.account_id and q.priority > 0 and q.due_at <= moment.now ${others}
          order by q.priority, q.due_at limit ${size} for update of q skip locked)
      ${first}select * from urgent union all select * from ordinary limit ${size}) as due),
  leased as (
    update queued_delivery q
    set lease_owner = $2, fence = q.fence + 1, attempts = q.attempts + 1, stage = 'claimed',
      doubtful = q.doubtful or coalesce(due.stage = 'dot', false),
      orphaned = q.orphaned + case when q.lease_owner is not null and (q.orphaned < ${suspectAfter} or q.alone) then 1 else 0 end,
      alone = false,
      due_at = moment.now + $3::float8 * interval '1 ms'
    from due, moment
    where q.account_id = due.account_id and q.message_id = due.message_id and q.recipient = due.recipient
    returning q.account_id, q.message_id, q.recipient, q.retention_days, q.priority, q.fence, q.attempts, q.expires_at,
      q.paused, q.canceled, q.orphaned, q.deliver_before, q.doubtful, due.stage = 'dot' as in_doubt),
  marked as (
    update message m set state = 'uncertain', state_at = moment.now
    from leased l, moment
    where l.in_doubt and l.recipient = 0
      and m.account_id = l.account_id and m.id = l.message_id and m.retention_days = l.retention_days),
  recorded as (
    ${insertEvents({
      of: 'l',
      kind: 'uncertain',
      recipient: 'l.recipient',
      detail: `json_build_object('attempt', l.attempts - 1, 'reason',
        'the worker stopped when the final dot may have been sent')`,
    })}
    from leased l where l.in_doubt)
  select l.account_id as "accountId", l.message_id as "messageId", l.recipient, l.retention_days as "retentionDays",
    l.fence, l.attempts as attempt, l.doubtful, l.paused, l.canceled, l.orphaned,
    array(select p.destination from delivery_pause p where p.account_id = l.account_id) as "pausedDestinations",
    extract(epoch from l.expires_at - moment.now)::float8 * 1000 as "msLeft",
    extract(epoch from l.deliver_before - moment.now)::float8 * 1000 as "msToDeadline",
    coalesce(m.template_id, '') as "templateId", m.template_version as "templateVersion", m.accepted_at as "acceptedAt",
    m.deliver_when_delayed as "deliverWhenDelayed", m.transactional, m.track_opens as "trackOpens",
    m.track_clicks as "trackClicks", coalesce(t.when_uncertain, 'resend') as "whenUncertain", m.content
  from leased l
  cross join moment
  left join lateral (
    select * from message m
    where m.account_id = l.account_id and m.id = l.message_id and m.retention_days = l.retention_days
    limit 1) m on true
  left join lateral (
    select t.when_uncertain from template t where t.account_id = l.account_id and t.id = m.template_id limit 1) t on true
  order by l.priority, l.message_id, l.recipient`;
}

function statementsBySize(
  toStatement: (size: ClaimSize) => string,
): Readonly<Record<ClaimSize, string>> {
  return Object.fromEntries(claimSizes.map((size) => [size, toStatement(size)])) as never;
}

const statements = statementsBySize((size) => claimStatement(size));
const nearStatements = statementsBySize((size) => claimStatement(size, nearSearch(size)));

function toClaimedMessage(
  { msLeft, msToDeadline, ...row }: ClaimedRow,
  owner: string,
  startedAt: number,
  leaseMs: number,
): ClaimedMessage {
  const isPastDeadline = msToDeadline !== null && msToDeadline <= 0;
  return {
    ...row,
    owner,
    // A message that was never tried gets one attempt even if late, unless it is worthless when delayed.
    expired:
      isPastDeadline || (msLeft <= 0 && (row.attempt > 1 || row.deliverWhenDelayed === false)),
    remainingMs: Math.min(msLeft, msToDeadline ?? Number.POSITIVE_INFINITY),
    ...(msToDeadline !== null && { deadlineAt: startedAt + msToDeadline }),
    acceptedAt: sendAtOf(row.content) ?? row.acceptedAt,
    leaseEndsAt: startedAt + leaseMs,
  };
}
