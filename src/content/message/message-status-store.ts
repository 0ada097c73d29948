import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import type { StoredEventKind } from './event-kinds.ts';
import type { StoredContent } from './message-content.ts';
import { isLeased, pausedScopeOf } from './message-sql.ts';
import type { MessageState } from './message-state.ts';

/** A recorded event of a message or one of its recipients. */
export interface StoredEvent {
  readonly at: Date;
  readonly kind: StoredEventKind;
  /** 0 is To, 1 and up are Cc, null is the whole message. */
  readonly recipient: number | null;
  readonly detail: unknown;
}

/** What is paused when a message is: itself, mail to its domain, or all mail of the account. */
export const pausedScopes = ['message', 'destination', 'account'] as const;

export type PausedScope = (typeof pausedScopes)[number];

/** Queue entry of a message that isn't final. */
interface StoredQueueEntry {
  /** Null while held for review. */
  readonly due_at: Date | null;
  readonly reason: string | null;
  readonly pending: readonly number[];
  /** A worker is sending it now. */
  readonly leased: boolean;
  /** What a person has paused; null: nothing that keeps it waiting. */
  readonly paused: PausedScope | null;
}

export interface StoredMessage {
  readonly retention_days: number;
  readonly template_id: string;
  readonly template_version: number;
  readonly state: MessageState;
  readonly state_at: Date;
  readonly accepted_at: Date;
  readonly transactional: boolean;
  readonly track_opens: boolean;
  readonly track_clicks: boolean;
  readonly deliver_when_delayed: boolean;
  readonly external_id: string | null;
  readonly tag: string | null;
  /** Null once erased. */
  readonly content: StoredContent | null;
}

export interface StoredMessageStatus {
  readonly message: StoredMessage;
  readonly entry: StoredQueueEntry | undefined;
  readonly events: readonly StoredEvent[];
}

/** SQL: the columns of a stored message. */
export const messageColumns =
  'retention_days, template_id, template_version, state, state_at, accepted_at, transactional, track_opens, track_clicks, deliver_when_delayed, external_id, tag, content';

/** Messages with many opens and clicks return only their first events. */
const maxEvents = 1_000;

/** Reads an account's message with its queue entry and events in order; undefined if not found. */
export async function readMessageStatus(
  kysely: Kysely,
  accountId: AccountId,
  messageId: MessageId,
): Promise<StoredMessageStatus | undefined> {
  const message = await firstRow<StoredMessage>(kysely)`
    select ${sql.raw(messageColumns)} from message where account_id = ${accountId} and id = ${messageId}`;
  if (message === undefined) return undefined;
  const [[entry], events] = await Promise.all([
    allRows<StoredQueueEntry>(kysely)`
      select case when due_at < 'infinity' then due_at end as due_at, reason, pending,
        ${sql.raw(isLeased('q', 'now()'))} as leased, ${sql.raw(pausedScopeOf('q', 'm'))} as paused
      from queue_entry q
      left join message m on m.account_id = ${accountId} and m.id = q.message_id and m.retention_days = q.retention_days
      where q.account_id = ${accountId} and q.message_id = ${messageId}`,
    allRows<StoredEvent>(kysely)`
      select at, kind, recipient, detail from message_event
      where account_id = ${accountId} and message_id = ${messageId}
      order by at, id limit ${maxEvents}`,
  ]);
  return { message, entry, events };
}
