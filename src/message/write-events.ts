import { storableJson } from '../foundation/database/storable-json.ts';
import { newId } from '../foundation/ids.ts';
import type { StoredEventKind } from './event-kinds.ts';

/** What an event row is made from: expressions of SQL. */
export interface EventColumns {
  readonly accountId: string;
  readonly messageId: string;
  readonly retentionDays: string;
  readonly id: string;
  readonly at: string;
  /** A kind, or the expression of one that was checked before. */
  readonly kind: StoredEventKind | { readonly from: string };
  /** 0 is To, 1 and up are Cc, null the message as a whole. */
  readonly recipient: string;
  readonly detail: string;
}

/** The beginning of every statement, or part of one, that writes events; what follows says where its columns come from. */
export function insertEvents(columns: EventColumns): string {
  const { accountId, messageId, retentionDays, id, at, kind, recipient, detail } = columns;
  const kindValue = typeof kind === 'string' ? `'${kind}'` : kind.from;
  return `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select ${accountId}, ${messageId}, ${retentionDays}, ${id}, ${at}, ${kindValue}, ${recipient}, ${detail}`;
}

/** An event that is to be written. */
export interface EventDraft {
  readonly kind: StoredEventKind;
  readonly recipient: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A list of `eventRow` as rows `event` of `from`. @param list the parameter or expression that holds it */
export function eventRows(list: string): string {
  return `json_to_recordset(${list}::json) as event (place int, id uuid, kind text, recipient smallint, detail json)`;
}

/** Most characters of one event's detail; a longer one loses its transcript, then all but its reason. */
const maxDetailCharacters = 32_000;

/**
 * An event as a row in JSON with an id of its own, ready to be put into a list. Written by hand, since details are long
 * and are JSON already.
 * @param place of the outcome that it belongs to, where several are written together
 */
export function eventRow(event: EventDraft, place = 0): string {
  const row = { place, id: newId(), kind: event.kind, recipient: event.recipient };
  return `${JSON.stringify(row).slice(0, -1)},"detail":${truncateDetail(event)}}`;
}

/** The detail in JSON. No reply, however long, may keep an outcome from being written. */
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
