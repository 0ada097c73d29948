import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { policies } from '../../../src/base/fairness/policies.ts';
import { networksOf } from '../../../src/base/network/ip-address.ts';
import { maxBytesRead } from '../../../src/outcomes/bounce/parse-feedback-mail.ts';
import {
  FeedbackMailReceiver,
  type ReceivedFeedback,
} from '../../../src/outcomes/bounce/receive-feedback-mail.ts';
import { waitFor } from '../../support/wait-for.ts';

const piece = Buffer.alloc(64 * 1024, 'a line of a report\r\n');

function* mail(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

const itself = (report: ReceivedFeedback): Promise<ReceivedFeedback> => Promise.resolve(report);

test('only the parsed part of a large mail is kept, with a digest of the whole mail', async () => {
  const receiver = new FeedbackMailReceiver(policies.receivedReports);
  const bytes = 8 * 1024 ** 2 + 17;
  const report = await receiver.receive(mail(bytes), ['a'], itself);
  assert.equal(report?.source.length, maxBytesRead);
  const whole = createHash('sha256').update(Buffer.concat([...mail(bytes)]));
  assert.equal(report?.digest, whole.digest('base64url'));
  assert.equal(receiver.held, 0);
});

test('many concurrent large mails are buffered up to the limit, and small ones are still accepted', async () => {
  const maxBytes = 4 * 1024 ** 2;
  const receiver = new FeedbackMailReceiver(policies.receivedReports, 1 / 8);
  const streams = Array.from({ length: 100 }, () => new PassThrough());
  const received = streams.map((stream) => receiver.receive(stream, ['a'], itself));
  for (const stream of streams) for (const part of mail(3 * 1024 ** 2)) stream.write(part);
  await waitFor('all to be read', () => streams.every((stream) => stream.readableLength === 0));
  assert.ok(receiver.held > 0 && receiver.held <= maxBytes, `${receiver.held} bytes are held`);
  const small = await receiver.receive(mail(40_000), ['a'], itself);
  assert.equal(small?.source.length, 40_000);
  for (const stream of streams) stream.end();
  const reports = await Promise.all(received);
  const taken = reports.filter((report) => report !== undefined).length;
  assert.ok(taken > 0 && taken < 3, `${taken} of 100 were taken`);
  assert.equal(receiver.held, 0);
  const next = await receiver.receive(mail(maxBytes), ['a'], itself);
  assert.equal(next?.source.length, maxBytesRead);
});

test('a broken connection releases its memory', async () => {
  const receiver = new FeedbackMailReceiver(policies.receivedReports);
  const stream = new PassThrough();
  const received = receiver.receive(stream, ['a'], itself);
  for (const part of mail(1024 ** 2)) stream.write(part);
  await waitFor('some bytes to be held', () => receiver.held > 0);
  stream.destroy(new Error('the connection is gone'));
  await assert.rejects(received, /gone/);
  assert.equal(receiver.held, 0);
});

test('ASVS 4.0.3 11.1.4: networks whose mail stops halfway can’t keep out the large mail of another one', async () => {
  const policy = policies.receivedReplies;
  const bytes = 8 * 1024 ** 2;
  const receiver = new FeedbackMailReceiver(policy, 1, bytes);
  const slow = Array.from({ length: 24 }, (_, index) => {
    const stream = new PassThrough();
    return { stream, received: receiver.receive(stream, networksOf(`192.0.${index}.1`), itself) };
  });
  for (const { stream } of slow) for (const part of mail(bytes)) stream.write(part);
  await waitFor('all to be read', () => slow.every(({ stream }) => stream.readableLength === 0));
  assert.ok(receiver.held > policy.total - 2 * bytes);
  const honest = await receiver.receive(mail(bytes / 2), networksOf('198.51.100.1'), itself);
  assert.equal(honest?.size, bytes / 2);
  assert.ok(receiver.held <= policy.total);
  for (const { stream } of slow) stream.end();
  await Promise.all(slow.map(({ received }) => received));
  assert.equal(receiver.held, 0);
});
