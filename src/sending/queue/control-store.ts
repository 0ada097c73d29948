import { CompiledQuery } from 'kysely';
import type { CommitWith } from '../../base/database/commit-with.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import type { StoredEventKind } from '../../content/message/event-kinds.ts';
import {
  archiveCopyAddress,
  ccAddresses,
  domainOfAddress,
  isLeased,
  toDomain,
  waitUntil,
} from '../../content/message/message-sql.ts';
import {
  scheduledClassOffset,
  scheduledReason,
  unschedule,
} from '../../content/message/scheduled-class.ts';
import { insertEvents } from '../../content/message/write-events.ts';

/**
 * Reason for messages whose recipients are all at paused destinations. Also identifies which messages a resume
 * releases.
 */
export const pausedReason = 'its destination is paused';
export const canceledReason = 'canceled manually';

/** Selects an account's waiting messages: one, those to a domain, or all. */
export interface QueueSelection {
  readonly accountId: AccountId;
  readonly messageId?: MessageId | undefined;
  /** Lowercase A-label domain of To. */
  readonly destination?: string | undefined;
}

export interface QueueActionResult {
  /** Messages changed. */
  readonly changed: number;
  /** Messages left alone because they are being sent. */
  readonly busy: number;
}

interface Chunk {
  readonly seen: number;
  readonly changed: number;
  readonly busy: number;
  readonly last: string | null;
}

type Action = 'pause' | 'resume' | 'cancel' | 'retry';

/** Messages per statement, to keep locks short. */
const chunkSize = 500;

const leased = isLeased('q', 'moment.now');
const wait = (until: string): string => waitUntil(until, 'q', 'moment.now');

/** Null unless the message was accepted for a later time. */
const sendAt = `(case when q.retention_days > ${scheduledClassOffset} then (
    select s.send_at from scheduled_message s where s.account_id = $1 and s.message_id = q.message_id) end)`;
const isAhead = `coalesce(${sendAt} > moment.now, false)`;

/**
 * What each action sets. A message being sent keeps its lease: a pause or cancellation applies after the attempt, while
 * a retry or resume makes no sense. No action sends a scheduled message early; moving it does.
 */
const changes: Readonly<Record<Action, { readonly set: string; readonly unless: string }>> = {
  pause: {
    set: `paused = true, reason = 'paused manually', ${wait("'infinity'")}`,
    unless: 'q.paused or q.canceled',
  },
  resume: {
    set: `paused = false,
      reason = case when ${isAhead} then '${scheduledReason}' else 'resumed manually' end,
      ${wait(`case when q.pending = '{}' then 'infinity' else greatest(moment.now, ${sendAt}) end`)}`,
    unless: `not q.paused or ${leased}`,
  },
  cancel: {
    set: `canceled = true, paused = false, pending = q.pending || q.held, held = '{}',
      reason = '${canceledReason}', ${wait('moment.now')}`,
    unless: 'q.canceled',
  },
  retry: {
    set: `paused = false, pending = q.pending || q.held, held = '{}', reason = 'retried manually',
      ${wait('moment.now')}, expires_at = greatest(q.expires_at, moment.now + interval '1 hour')`,
    unless: `q.canceled or ${leased} or ${isAhead}`,
  },
};

const releaseStatement = `
  with moment as materialized (select now() as now),
  chosen as materialized (
    select q.message_id from queue_entry q
    where q.account_id = $1 and q.message_id > $3 and q.reason = $4 and q.lease_owner is null
      and q.due_at < 'infinity'
      and ($2::text is null or exists (
        select from message m
        where m.account_id = $1 and m.id = q.message_id and m.retention_days = q.retention_days
          and ($2 = ${toDomain('m')} or $2 = ${domainOfAddress(archiveCopyAddress('m'))} or exists (
            select from ${ccAddresses('m')} cc
            where $2 = ${domainOfAddress('cc')}))))
    order by q.message_id limit ${chunkSize} for update of q),
  released as (
    update queue_entry q set due_at = least(q.due_at, moment.now), reason = 'resumed manually'
    from chosen, moment
    where q.account_id = $1 and q.message_id = chosen.message_id)
  select count(*)::int as seen, max(message_id::text) as last from chosen`;

/** User actions on waiting messages: pause, resume, cancel, retry now. Workers see them at their next claim. */
export class QueueControlStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Applies an action to the currently waiting messages and records an event for each. Pausing or resuming a whole
   * account or destination is a setting instead, since it also covers later messages.
   * @param commitWith work to commit in the same transaction as the first change
   */
  async control(
    action: Action,
    selection: QueueSelection,
    commitWith?: CommitWith,
  ): Promise<QueueActionResult> {
    const { accountId, messageId, destination } = selection;
    if (messageId === undefined && (action === 'pause' || action === 'resume')) {
      const paused = action === 'pause';
      const done = await this.#withCommit(commitWith, async (transaction) => ({
        changed: await this.setPause(transaction, accountId, destination ?? '*', paused),
        busy: 0,
      }));
      if (!paused && done.changed > 0) await this.release(accountId, destination ?? '*');
      return done;
    }
    let after = '00000000-0000-0000-0000-000000000000';
    const result = { changed: 0, busy: 0 };
    for (;;) {
      const done = await this.#withCommit(
        result.changed === 0 ? commitWith : undefined,
        (transaction) => this.#controlChunk(transaction, action, selection, after),
      );
      result.changed += done.changed;
      result.busy += done.busy;
      if (done.last === null || done.seen < chunkSize) return result;
      after = done.last;
    }
  }

  /** An account's paused destinations; `*` means all. */
  async pausedDestinations(accountId: AccountId): Promise<string[]> {
    const { rows } = await this.#database.pool.query<{ destination: string }>(
      'select destination from delivery_pause where account_id = $1 order by destination',
      [accountId],
    );
    return rows.map((row) => row.destination);
  }

  async #withCommit<Result extends { readonly changed: number }>(
    commitWith: CommitWith | undefined,
    work: (transaction: Kysely) => Promise<Result>,
  ): Promise<Result> {
    const { kysely } = this.#database;
    if (commitWith === undefined) return work(kysely);
    return kysely.transaction().execute(async (transaction) => {
      const result = await work(transaction);
      if (result.changed > 0) await commitWith(transaction);
      return result;
    });
  }

  /**
   * Pauses or resumes mail to a destination, or all mail with `*`, including later messages. Call `release` after
   * resuming.
   * @returns 1, or 0 if nothing changed
   */
  async setPause(
    kysely: Kysely,
    accountId: AccountId,
    destination: string,
    paused: boolean,
  ): Promise<number> {
    const query = CompiledQuery.raw(
      paused
        ? `insert into delivery_pause (account_id, destination, paused_at)
           select id, $2, now() from account where id = $1
           on conflict do nothing`
        : `delete from delivery_pause where account_id = $1 and destination = $2`,
      [accountId, destination],
    );
    return Number((await kysely.executeQuery(query)).numAffectedRows ?? 0n);
  }

  /**
   * Makes messages due that were deferred by a pause whose removal is committed; `*` is the pause on all mail. Each chunk
   * commits separately; messages missed in a crash or being deferred concurrently become due at their scheduled time.
   */
  async release(accountId: AccountId, destination: string): Promise<void> {
    const only = destination === '*' ? null : destination;
    let after: string | null = '00000000-0000-0000-0000-000000000000';
    while (after !== null) {
      const query = CompiledQuery.raw(releaseStatement, [accountId, only, after, pausedReason]);
      const { rows } =
        await this.#database.kysely.executeQuery<Pick<Chunk, 'seen' | 'last'>>(query);
      const [{ seen, last } = { seen: 0, last: null }] = rows;
      after = seen < chunkSize ? null : last;
    }
  }

  async #controlChunk(
    kysely: Kysely,
    action: Action,
    selection: QueueSelection,
    after: string,
  ): Promise<Chunk> {
    const { set, unless } = changes[action];
    const query = CompiledQuery.raw(
      `
        with moment as materialized (select now() as now),
        chosen as materialized (
          select q.message_id, q.retention_days from queue_entry q
          where q.account_id = $1 and q.message_id > $4 and ($2::uuid is null or q.message_id = $2)
            and ($3::text is null or exists (
              select from message m
              where m.account_id = $1 and m.id = q.message_id and m.retention_days = q.retention_days
                and ${toDomain('m')} = $3))
          order by q.message_id limit ${chunkSize} for update of q),
        changed as (
          update queue_entry q set ${set}
          from chosen, moment
          where q.account_id = $1 and q.message_id = chosen.message_id and not (${unless})
          returning q.account_id, q.message_id, q.retention_days),
        ${action === 'cancel' ? `${unschedule('changed')},` : ''}
        busy as (
          select count(*)::int as count from queue_entry q join chosen using (message_id) cross join moment
          where q.account_id = $1 and ${leased}),
        recorded as (
          ${insertEvents({ of: 'changed', kind: { from: '$5' }, detail: `'{"by": "hand"}'` })}
          from changed)
        select (select count(*) from chosen)::int as seen, (select count(*) from changed)::int as changed,
          (select count from busy) as busy, (select max(message_id::text) from chosen) as last`,
      [
        selection.accountId,
        selection.messageId ?? null,
        selection.destination ?? null,
        after,
        `${action}-asked` satisfies StoredEventKind,
      ],
    );
    const { rows } = await kysely.executeQuery<Chunk>(query);
    return rows[0] ?? { seen: 0, changed: 0, busy: 0, last: null };
  }
}
