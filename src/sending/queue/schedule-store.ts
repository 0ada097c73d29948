import { CompiledQuery } from 'kysely';
import type { CommitWith } from '../../base/database/commit-with.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { isLeased, waitUntil } from '../../content/message/message-sql.ts';
import {
  scheduledClassOffset,
  scheduledReason,
  unschedule,
} from '../../content/message/scheduled-class.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import { canceledReason } from './control-store.ts';

/** Selects an account's scheduled messages: one, or all with a tag or external id. */
export type ScheduleSelection = { readonly accountId: AccountId } & (
  | { readonly messageId: MessageId }
  | { readonly tag: string }
  | { readonly externalId: string }
);

export interface ScheduleChange {
  /** Messages changed. */
  readonly changed: number;
  /** Messages left alone: they are being sent, or their deadline isn't after the new time. */
  readonly skipped: number;
}

/** A message whose send time is ahead. */
export interface ScheduledMessage {
  readonly messageId: MessageId;
  readonly sendAt: Date;
  readonly acceptedAt: Date;
  readonly deliverBefore: Date | null;
  readonly paused: boolean;
  readonly templateId: string;
  readonly templateVersion: number;
  /** Null once erased. */
  readonly to: string | null;
  readonly tag: string | null;
  readonly externalId: string | null;
  /** The send time with microseconds, for the cursor. */
  readonly exactly: string;
}

export interface ScheduleFilter {
  readonly messageId?: string | undefined;
  readonly tag?: string | undefined;
  readonly externalId?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Exact send time and id of the last message of the previous page. */
  readonly after?: readonly [sendAt: string, messageId: string] | undefined;
  readonly limit: number;
}

interface Chunk {
  readonly seen: number;
  readonly changed: number;
  readonly lastAt: string | null;
  readonly lastId: string | null;
}

/** Messages per statement, to keep locks short. */
const chunkSize = 500;

/** Lists, moves and cancels messages whose send time is ahead. */
export class ScheduleStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Moves messages to another time, for example now. @param commitWith committed with the first change */
  move(
    selection: ScheduleSelection,
    sendAt: Date,
    commitWith?: CommitWith,
  ): Promise<ScheduleChange> {
    return this.#change(moveStatement, selection, sendAt, commitWith);
  }

  /** Cancels messages. @param commitWith committed with the first change */
  cancel(selection: ScheduleSelection, commitWith?: CommitWith): Promise<ScheduleChange> {
    return this.#change(cancelStatement, selection, undefined, commitWith);
  }

  async #change(
    statement: (condition: string) => string,
    selection: ScheduleSelection,
    sendAt: Date | undefined,
    commitWith: CommitWith | undefined,
  ): Promise<ScheduleChange> {
    const { kysely } = this.#database;
    const { condition, value } = conditionOf(selection);
    let lastAt = '-infinity';
    let lastId = '00000000-0000-0000-0000-000000000000';
    const result = { changed: 0, skipped: 0 };
    for (;;) {
      const isFirst = result.changed === 0;
      const query = CompiledQuery.raw(statement(condition), [
        selection.accountId,
        value,
        lastAt,
        lastId,
        ...(sendAt === undefined ? [] : [sendAt.toISOString()]),
      ]);
      const chunk = await kysely.transaction().execute(async (transaction) => {
        const { rows } = await transaction.executeQuery<Chunk>(query);
        if (isFirst && (rows[0]?.changed ?? 0) > 0) await commitWith?.(transaction);
        return rows[0];
      });
      if (chunk === undefined) return result;
      result.changed += chunk.changed;
      result.skipped += chunk.seen - chunk.changed;
      if (chunk.seen < chunkSize || chunk.lastAt === null || chunk.lastId === null) return result;
      lastAt = chunk.lastAt;
      lastId = chunk.lastId;
    }
  }

  /** A page of scheduled messages, the next one first. Reads one more than `limit`. */
  async list(accountId: AccountId, filter: ScheduleFilter): Promise<ScheduledMessage[]> {
    const values: unknown[] = [accountId];
    const add = (value: unknown): string => `$${values.push(value)}`;
    const conditions = ['s.account_id = $1', 's.waiting', 's.send_at > now()'];
    const { messageId, tag, externalId, from, until, after } = filter;
    if (messageId !== undefined) conditions.push(`s.message_id = ${add(messageId)}::uuid`);
    if (tag !== undefined) conditions.push(`s.tag = ${add(tag)}`);
    if (externalId !== undefined) conditions.push(`s.external_id = ${add(externalId)}`);
    if (from !== undefined) conditions.push(`s.send_at >= ${add(from.toISOString())}`);
    if (until !== undefined) conditions.push(`s.send_at < ${add(until.toISOString())}`);
    if (after !== undefined)
      conditions.push(
        `(s.send_at, s.message_id) > (${add(after[0])}::timestamptz, ${add(after[1])}::uuid)`,
      );
    const query = CompiledQuery.raw(
      `select s.message_id as "messageId", s.send_at as "sendAt", s.send_at::text as exactly, m.accepted_at as "acceptedAt",
         q.deliver_before as "deliverBefore", q.paused, m.template_id as "templateId",
         m.template_version as "templateVersion", m.content ->> 'to' as to, s.tag, s.external_id as "externalId"
       from scheduled_message s
       join queue_entry q on q.account_id = $1 and q.message_id = s.message_id and not q.canceled
       join message m on m.account_id = $1 and m.id = s.message_id and m.retention_days = s.retention_days
       where ${conditions.join(' and ')}
       order by s.send_at, s.message_id limit ${add(filter.limit + 1)}`,
      values,
    );
    return (await this.#database.kysely.executeQuery<ScheduledMessage>(query)).rows;
  }
}

function conditionOf(selection: ScheduleSelection): { condition: string; value: string } {
  if ('messageId' in selection)
    return { condition: 's.message_id = $2::uuid', value: selection.messageId };
  if ('tag' in selection) return { condition: 's.tag = $2', value: selection.tag };
  return { condition: 's.external_id = $2', value: selection.externalId };
}

/** The next messages in the order of their send time, with their queue entries locked. */
const chosen = (condition: string): string => `
  with moment as materialized (select now() as now),
  chosen as materialized (
    select s.message_id, s.send_at, s.lifetime_seconds
    from scheduled_message s
    join queue_entry q on q.account_id = $1 and q.message_id = s.message_id
    where s.account_id = $1 and s.waiting and ${condition} and s.send_at > (select now from moment)
      and (s.send_at, s.message_id) > ($3::timestamptz, $4::uuid)
    order by s.send_at, s.message_id limit ${chunkSize} for update of q)`;

const result = `
  select (select count(*) from chosen)::int as seen, (select count(*) from changed)::int as changed,
    last.send_at::text as "lastAt", last.message_id as "lastId"
  from (select 1) as one
  left join lateral (select send_at, message_id from chosen order by send_at desc, message_id desc limit 1) as last
    on true`;

const isFree = `not ${isLeased('q', 'moment.now')} and not q.canceled`;

const event = (kind: 'move-asked' | 'cancel-asked', detail: string): string => `
  recorded as (
    ${insertEvents({ of: 'changed', kind, detail })}
    from changed)`;

const cancelStatement = (condition: string): string => `${chosen(condition)},
  changed as (
    update queue_entry q
    set canceled = true, paused = false, pending = q.pending || q.held, held = '{}', reason = '${canceledReason}',
      ${waitUntil('moment.now', 'q', 'moment.now')}
    from chosen, moment
    where q.account_id = $1 and q.message_id = chosen.message_id and ${isFree}
    returning q.account_id, q.message_id, q.retention_days),
  ${unschedule('changed')},
  ${event('cancel-asked', `'{"by": "hand"}'`)}
  ${result}`;

// Messages at the new time are excluded, so that those moved by an earlier chunk aren't moved again.
const moveStatement = (
  condition: string,
): string => `${chosen(`${condition} and s.send_at <> $5::timestamptz`)},
  changed as (
    update queue_entry q
    set ${waitUntil("case when q.due_at = 'infinity' then q.due_at else $5::timestamptz end", 'q', 'moment.now')},
      expires_at = least($5::timestamptz + chosen.lifetime_seconds * interval '1 second', q.deliver_before),
      reason = case when q.due_at = 'infinity' then q.reason else '${scheduledReason}' end
    from chosen, moment
    where q.account_id = $1 and q.message_id = chosen.message_id and ${isFree}
      and (q.deliver_before is null or q.deliver_before > $5::timestamptz)
    returning q.account_id, q.message_id, q.retention_days),
  rescheduled as (
    update scheduled_message s
    set send_at = $5::timestamptz,
      keep_until = $5::timestamptz + (s.retention_days - ${scheduledClassOffset}) * interval '1 day'
    from changed where s.account_id = $1 and s.message_id = changed.message_id),
  rewritten as (
    update message m
    set content = (m.content::jsonb || jsonb_build_object('sendAt',
      to_char($5::timestamptz at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::json
    from changed
    where m.account_id = $1 and m.id = changed.message_id and m.retention_days = changed.retention_days
      and m.content is not null),
  ${event('move-asked', `json_build_object('by', 'hand', 'sendAt', to_char($5::timestamptz at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))`)}
  ${result}`;
