import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  eventKindNames,
  eventKinds,
  isOutcomeKind,
  outcomeKinds,
  readerEventKinds,
  suppressingKinds,
  webhookKinds,
} from '../../../src/content/message/event-kinds.ts';
import { messageStateNames } from '../../../src/content/message/message-state.ts';

test('an outcome is named like the state that it gives its recipient', () => {
  for (const kind of outcomeKinds) assert.equal(eventKinds[kind].state, kind);
  assert.deepEqual(
    messageStateNames.filter((state) => !outcomeKinds.some((kind) => kind === state)),
    ['queued', 'sending'],
  );
});

/** The string literals of a list in the current schema. */
async function schemaList(before: RegExp): Promise<string[]> {
  const schema = await readFile(new URL('../../../migrations/schema.sql', import.meta.url), 'utf8');
  const list = new RegExp(`${before.source}[^;]*?ARRAY\\[([^\\]]*)\\]`).exec(schema)?.[1] ?? '';
  return [...list.matchAll(/'([^']*)'/g)].map(([, text = '']) => text);
}

test('the states, the suppression reasons and the index of opens and clicks in the database match these tables', async () => {
  assert.deepEqual(
    (await schemaList(/message_state_check CHECK/)).toSorted(),
    messageStateNames.toSorted(),
  );
  assert.deepEqual(await schemaList(/INDEX message_event_engagement/), readerEventKinds);
  const reasons = await schemaList(/suppression_reason_check CHECK/);
  for (const kind of suppressingKinds) assert.ok(reasons.includes(eventKinds[kind].suppresses));
});

test('a webhook event is named after its kind, as endpoints request it', () => {
  for (const kind of webhookKinds) assert.equal(eventKinds[kind].webhook, `message.${kind}`);
});

test('a kind that is unknown to this release is not an outcome', () => {
  assert.ok(!isOutcomeKind('accepted'));
  assert.ok(!isOutcomeKind('toString' as never));
  for (const kind of eventKindNames) assert.match(eventKinds[kind].meaning, /^\S.*\S$/);
});
