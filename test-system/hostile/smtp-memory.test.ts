import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SMTPServerDataStream } from 'smtp-server';
import { policies } from '../../src/base/fairness/policies.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { MessageReceiver } from '../../src/sending/smtp-submission/receive-message.ts';

const maxBytes = 512 * 1_024;
/** Two messages of the largest size fill the memory. */
const share = 1 / 64;
const paceCheckMs = 500;
const body = Buffer.from('x\r\n');

/** Messages whose bytes the test delivers, and a clock. */
function begin(t: TestContext) {
  let ms = 0;
  t.mock.method(performance, 'now', () => ms);
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const receiver = new MessageReceiver(share);
  const receive = (account: string, announcedBytes = 0) => {
    const stream = new PassThrough();
    const limits = { accountId: account as AccountId, maxBytes, announcedBytes };
    const received = receiver
      .receive(stream as unknown as SMTPServerDataStream, limits, async ({ length }) => length)
      .catch((error: unknown) => String(error));
    return { stream, received };
  };
  const pass = (seconds: number): void => {
    for (let left = seconds * 1_000; left > 0; left -= paceCheckMs) {
      ms += paceCheckMs;
      t.mock.timers.tick(paceCheckMs);
    }
  };
  return { receive, pass };
}

test('ASVS 4.0.3 11.1.4: two accounts whose messages arrive slowly can’t keep a third one out', async (t) => {
  const { receive, pass } = begin(t);
  const slow = ['a', 'b'].map((account) => receive(account, maxBytes));
  for (const { stream } of slow) stream.write(body);
  await nextTurn();
  const third = receive('c');
  third.stream.end(body);
  await nextTurn();
  pass((policies.submittedMessages.evict?.afterMs ?? 0) / 1_000 + 1);
  assert.equal(await third.received, body.length);
  for (const { stream } of slow) stream.end(body);
  const results = await Promise.all(slow.map(({ received }) => received));
  assert.deepEqual(results, ['SubmissionRefusal: noMemory', 2 * body.length], 'one gave way');
});

test('a message may take its time while nobody waits for memory', async (t) => {
  const { receive, pass } = begin(t);
  const slow = receive('a', maxBytes);
  slow.stream.write(body);
  await nextTurn();
  pass(60);
  slow.stream.end(body);
  assert.equal(await slow.received, 2 * body.length);
});
