import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openGate, type TcpGate } from '../../test/support/tcp-gate.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FaultScene, PersistentSenders } from '../support/fault-scene.ts';

/** Of a request: three seconds of waiting and ten for an unknown outcome, and what a busy machine adds. */
const maxAnswerMs = 30_000;

const ends: readonly [name: string, begin: (gate: TcpGate) => void][] = [
  ['breaks its connections', (gate) => gate.hold()],
  ['delivers what was sent', (gate) => gate.freeze()],
];
const scenes = await Promise.all(
  ends.map(async ([name, begin]) => {
    const gate = await openGate((await createTestDatabase()).url);
    const scene = await FaultScene.start({ environment: { DATABASE_URL: gate.url } });
    return { name, begin: () => begin(gate), gate, scene };
  }),
);

// They mostly wait.
describe('a partition from the database', { concurrency: true }, () => {
  for (const { name, begin, gate, scene } of scenes)
    test(`one that ${name} at its end: 503 in time, nothing lost or doubled, ready again`, {
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
        /^FAIL database +Can’t use the database at \S+: no response within 5 seconds\.$/m,
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
      assert.ok(senders.refusals.every(({ status }) => status === 503));
      const slowest = Math.max(...senders.refusals.map(({ ms }) => ms));
      assert.ok(slowest < maxAnswerMs, `an answer took ${slowest} ms`);
      await scene.waitForAccepted();
      assert.equal(
        scene.accepted.size,
        senders.done.size,
        'a repeated request made a second message',
      );
      assert.deepEqual(await scene.findUnrecordedCopies(), []);
    });
});
