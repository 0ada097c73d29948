import { storableJson } from '../../base/database/storable-json.ts';
import type { StoredEventKind } from './event-kinds.ts';

/** SQL expressions for the columns of an event row. */
interface EventColumns {
  /** Relation with the message of each event: `account_id`, `message_id` and `retention_days`. */
  readonly of: string;
  readonly id?: string;
  readonly at?: string;
  /** A kind, or an SQL expression for a validated one. */
  readonly kind: StoredEventKind | { readonly from: string };
  /** 0 is To, 1 and up are Cc; the whole message by default. */
  readonly recipient?: string;
  readonly detail: string;
}

/** The `insert … select` of every statement that writes events. The caller appends the `from` clause. */
export function insertEvents(columns: EventColumns): string {
  const { of, id = 'gen_random_uuid()', at = 'now()', kind, recipient = 'null', detail } = columns;
  const kindValue = typeof kind === 'string' ? `'${kind}'` : kind.from;
  return `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select ${of}.account_id, ${of}.message_id, ${of}.retention_days, ${id}, ${at}, ${kindValue}, ${recipient}, ${detail}`;
}

/** Inserts the rows of `eventRows` for messages. @param of as in `EventColumns` */
export function insertEventRows(of: string): string {
  return insertEvents({
    of,
    id: 'event.id',
    at: timeBefore('event.ago'),
    kind: { from: 'event.kind' },
    recipient: 'event.recipient',
    detail: 'event.detail',
  });
}

/** An event to write. */
export interface EventDraft {
  /** Created once per event, so that writing it twice stores one. */
  readonly id: string;
  /** When it happened, by `performance.now()`: it may be stored much later. */
  readonly happenedAt: number;
  readonly kind: StoredEventKind;
  readonly recipient: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** For the metrics, not stored: the operator of the recipient's mail server, if known. */
  readonly receiver?: string;
  /** The delivery's ID in reports of the relay; stored apart from the event. */
  readonly relayId?: string;
}

/** The database time that many milliseconds ago. @param ago SQL */
export function timeBefore(ago: string): string {
  return `now() - ${ago} * interval '1 ms'`;
}

/** Milliseconds since a `performance.now()` time; ignores clock changes. */
export function sinceTime(happenedAt: number): number {
  return Math.max(0, Math.round(performance.now() - happenedAt));
}

/** A list of `eventRow` results as rows `event` for `from`. @param list SQL parameter or expression of the list */
export function eventRows(list: string): string {
  return `json_to_recordset(${list}::json) as event (place int, id uuid, ago float8, kind text, recipient smallint, detail json)`;
}

/** Max characters of an event's detail. A longer one loses its transcript, then everything but its reason. */
const maxDetailCharacters = 32_000;

/**
 * An event as a JSON row. Assembled as text because details are long and already JSON.
 * @param place index of its outcome if several are written together
 */
export function eventRow(event: EventDraft, place = 0): string {
  const { id, kind, recipient } = event;
  const row = { place, id, ago: sinceTime(event.happenedAt), kind, recipient };
  return `${JSON.stringify(row).slice(0, -1)},"detail":${truncateDetail(event)}}`;
}

/** The detail as JSON, truncated because even a very long reply must not prevent an outcome from being written. */
function truncateDetail(event: EventDraft): string {
  const text = JSON.stringify(event.detail);
  if (text.length <= maxDetailCharacters) return storableJson(text);
  const { transcript: _, ...rest } = event.detail;
  const withoutTranscript = JSON.stringify(rest);
  if (withoutTranscript.length <= maxDetailCharacters) return storableJson(withoutTranscript);
  return storableJson(
    JSON.stringify({ reason: String(event.detail.reason ?? '').slice(0, 1_000) }),
  );
}
