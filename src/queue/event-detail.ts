import { storableJson } from '../foundation/database/storable-json.ts';
import { newId } from '../foundation/ids.ts';
import type { EventDraft } from './settle-attempt.ts';

/** Max characters in an event's detail. A longer one loses its transcript, then everything but its reason. */
const maxDetailCharacters = 32_000;

/**
 * An event as a JSON row with its own id, ready to append to a list. Built by hand because details are long and already
 * JSON.
 * @param place index of its outcome when several are written together
 */
export function eventRow(event: EventDraft, place = 0): string {
  const row = { place, id: newId(), kind: event.kind, recipient: event.recipient };
  return `${JSON.stringify(row).slice(0, -1)},"detail":${truncateDetail(event)}}`;
}

/** The detail as JSON, truncated so that a long reply can't keep an outcome from being written. */
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
