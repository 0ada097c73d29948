import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../console/src/api/management.generated.ts';
import { parseEventDetail } from '../../console/src/message/event-detail.ts';
import { waitOf } from '../../console/src/message/message-states.ts';

const recipients = [{ address: 'ann@people.test' }, { address: null }] as Message['recipients'];

test('a reply names the recipient that it is about, and an erased one by its place', () => {
  const { reply, reason, transcript } = parseEventDetail(
    {
      reason: 'the server temporarily rejected the recipient: 451 4.7.1 <to>: wait',
      reply: { code: 451, enhanced: '4.7.1', text: '<to>: wait' },
      transcript: ['> RCPT TO:<to>', '> RCPT TO:<cc 1>'],
    },
    recipients,
  );
  assert.equal(reply, '451 4.7.1 <ann@people.test>: wait');
  assert.equal(
    reason,
    'the server temporarily rejected the recipient',
    'the reply is not repeated',
  );
  assert.deepEqual(transcript, ['> RCPT TO:<ann@people.test>', '> RCPT TO:<cc 1>']);
});

test('what is known about an event is in words, not in the names that programs use', () => {
  const { lines } = parseEventDetail({
    attempt: 2,
    retryInSeconds: 70,
    cause: 'greylist',
    stage: 'rcpt',
    userAgent: 'Mail',
  });
  assert.deepEqual(lines, ['Attempt 2', 'next attempt in 1 min', 'greylisted', 'user agent: Mail']);
  assert.deepEqual(parseEventDetail({ cause: 'mailbox-full' }).lines, ['mailbox full']);
});

test('a message whose cancellation a worker hasn’t confirmed is being canceled, whatever it waited for', () => {
  const nextAttempt = { at: null, reason: 'scheduled', paused: null };
  const asked = [{ kind: 'cancel-asked' }] as Message['events'];
  assert.equal(waitOf({ nextAttempt, events: [] }), 'scheduled');
  assert.equal(waitOf({ nextAttempt, events: asked }), 'canceling');
  assert.equal(waitOf({ nextAttempt: null, events: asked }), undefined);
});
