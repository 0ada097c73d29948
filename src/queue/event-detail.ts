import { storableJson } from '../foundation/database/storable-json.ts';
import { newId } from '../foundation/ids.ts';
import type { EventDraft } from './settle-attempt.ts';

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
