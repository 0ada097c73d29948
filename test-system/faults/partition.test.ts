import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FaultScene, PersistentSenders } from '../support/fault-scene.ts';

const { url } = await createTestDatabase();
const gate = await openGate(url);
const scene = await FaultScene.start({ environment: { DATABASE_URL: gate.url } });
/** Of a request: three seconds of waiting and ten for an unknown outcome, and what a busy machine adds. */
const maxAnswerMs = 30_000;

for (const [end, begin] of [
  ['breaks its connections', () => gate.hold()],
  ['delivers what was sent', () => gate.freeze()],
] as const)
  test(`a partition from the database that ${end} at its end: 503 in time, nothing lost or doubled, ready again`, {
    timeout: 180_000,
  }, async (t) => {
    const senders = new PersistentSenders(scene, 8);
    t.after(async () => {
      gate.open();
      await senders.stop();
    });
    await waitFor('some messages', () => senders.done.size > 20);
    const logged = scene.log.length;
    begin();
    const diagnosed = scene.doctor();
    await waitFor(
      'refusals',
      () => senders.refusals.filter(({ status }) => status === 503).length >= 8,
      2 * maxAnswerMs,
    );
    assert.match(await scene.readiness(), /the database (is not responding|cannot be reached)/);
    assert.equal(await scene.metric('signalpost_database_up'), 0);
    const report = await diagnosed;
    assert.match(
      report,
      /^FAIL database +Can’t use the database at \S+: no answer within 5 seconds\.$/m,
    );
    assert.match(report, /^ok {3}clock +not checked without the database$/m);
    assert.match(scene.log.slice(logged), /the database does not respond/);
    const { size } = senders.done;
    gate.open();
    await waitFor('the node to be ready', async () => (await scene.readiness()) === 'ready');
    await waitFor('messages to be accepted', () => senders.done.size > size + 20);
    await senders.stop();
    await waitFor('the log to tell the end', () =>
      scene.log.slice(logged).includes('the database responds again'),
    );
    const slowest = Math.max(...senders.refusals.map(({ ms }) => ms));
    assert.ok(slowest < maxAnswerMs, `an answer took ${slowest} ms`);
    assert.ok(senders.refusals.every(({ status }) => status === 503));
    await scene.waitForAccepted();
    assert.equal(scene.accepted.size, scene.sink.mails.length, 'a repeated request made another message');
    assert.deepEqual(await scene.findUnrecordedCopies(), []);
  });
