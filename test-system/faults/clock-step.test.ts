import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSink } from '../../test/support/mail-sink.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FaultScene } from '../support/fault-scene.ts';

const hour = 3_600;
const { url, clock: databaseClock } = await createTestDatabase();
const clock = new FakeClock();
let isOpen = true;
const sink = await startSink({ onMessage: () => (isOpen ? undefined : '451 4.3.0 Later') });
const scene = await FaultScene.start({
  sink,
  environment: { DATABASE_URL: url },
  wrap: (program, args) => clock.command(program, args),
});
const offset = (): Promise<number> => scene.metric('signalpost_clock_offset_seconds');

/** Sends a few, with the token from before the steps, and waits until they have arrived. */
async function sendAndReceive(): Promise<void> {
  for (const number of [1, 2, 3]) assert.equal((await scene.send(number)).status, 200);
  await scene.waitForAccepted();
}

for (const [way, seconds] of [
  ['forward', hour],
  ['back', -hour],
] as const)
  test(`while the clock of a node is an hour ${way}, mail is sent, its tokens work, and operators see it`, {
    timeout: 120_000,
  }, async () => {
    await sendAndReceive();
    assert.ok((await offset()) < 5);
    const logged = scene.log.length;
    clock.step(seconds);
    await sendAndReceive();
    await waitFor('the log to tell', () =>
      /clock differs from the database’s; message IDs use the database’s/.test(
        scene.log.slice(logged),
      ),
    );
    assert.ok(Math.abs((await offset()) - hour) < 60);
    assert.equal(await scene.readiness(), 'ready');
    const report = await scene.doctor();
    assert.match(
      report,
      new RegExp(
        `^FAIL clock +this machine’s clock is \\d+ s ${seconds > 0 ? 'ahead of' : 'behind'} the database’s`,
        'm',
      ),
    );
    assert.match(report, /NTP/);
    await scene.signIn();
    await sendAndReceive();

    clock.step(0);
    await sendAndReceive();
    await waitFor('the log to tell the end', () =>
      scene.log.slice(logged).includes('clock agrees with the database’s again'),
    );
    assert.deepEqual(await scene.findUnrecordedCopies(), []);
  });

test('when the clock of the whole machine is set back an hour, nothing waits for an hour', {
  timeout: 120_000,
}, async () => {
  isOpen = false;
  assert.equal((await scene.send('waiting')).status, 200);
  await waitFor('a deferral', async () => /deferred/.test(await scene.outcomes()));
  clock.step(-hour);
  await databaseClock.advance(-hour * 1_000);
  isOpen = true;
  await sendAndReceive();
  assert.match(scene.log, /the database clock was set back; waiting messages are due now/);
  assert.deepEqual(await scene.findUnrecordedCopies(), []);
});
