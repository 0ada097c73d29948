import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  eventKindNames,
  eventKinds,
  isOutcomeKind,
  outcomeKinds,
  readerEventKinds,
  reportColumns,
  storedEventKinds,
  suppressingKinds,
  webhookKinds,
} from '../../src/message/event-kinds.ts';
import { messageStateNames } from '../../src/message/message-state.ts';

test('an outcome is called as the state that it gives its recipient', () => {
  for (const kind of outcomeKinds) assert.equal(eventKinds[kind].state, kind);
  assert.deepEqual(
    messageStateNames.filter((state) => !outcomeKinds.some((kind) => kind === state)),
    ['queued', 'sending'],
  );
});

test('webhooks, reports, suppressions and the index of opens and clicks have these kinds', () => {
  assert.deepEqual(webhookKinds.toSorted(), [
    'accepted',
    'bounced',
    'canceled',
    'clicked',
    'complained',
    'deferred',
    'delayed',
    'delivered',
    'expired',
    'failed',
    'opened',
    'uncertain',
    'unsubscribed',
  ]);
  assert.deepEqual(reportColumns.slice(0, 4), [
    'accepted',
    'delivered',
    'bounced_hard',
    'bounced_soft',
  ]);
  assert.equal(reportColumns.length, 19);
  assert.deepEqual(suppressingKinds, ['bounced', 'complained', 'unsubscribed']);
  // As the partial index of opens and clicks has them.
  assert.deepEqual(readerEventKinds, ['opened', 'clicked']);
  assert.ok(!storedEventKinds.some((kind) => (kind as string) === 'accepted'));
});

test('a webhook is told under the name of the kind, as endpoints ask for it', () => {
  for (const kind of webhookKinds) assert.equal(eventKinds[kind].webhook, `message.${kind}`);
});

test('what no release or only another one knows is no outcome', () => {
  assert.ok(!isOutcomeKind('accepted'));
  assert.ok(!isOutcomeKind('toString' as never));
  for (const kind of eventKindNames) assert.match(eventKinds[kind].meaning, /^\S.*\S$/);
});
