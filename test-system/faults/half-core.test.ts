import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';
import { ControlGroup } from '../support/control-group.ts';
import { FaultScene, PersistentSenders } from '../support/fault-scene.ts';

const group = ControlGroup.open('core', { cores: 0.5 });
const messages = 300;

test('with half a core, the service stays ready, responds in time and delivers, and gives up none of its connections', {
  skip: group === undefined && 'only root can create a control group',
  timeout: 240_000,
}, async (t) => {
  const scene = await FaultScene.start({
    wrap: (program, args) => group?.command(program, args) ?? [program, [...args]],
  });
  const before = group?.throttles ?? 0;
  const senders = new PersistentSenders(scene, 8);
  t.after(() => senders.stop());
  await waitFor(
    'messages to be sent',
    async () => {
      const startedAt = performance.now();
      assert.equal(await scene.readiness(), 'ready');
      assert.ok(performance.now() - startedAt < 5_000, 'the probe took too long');
      return senders.done.size >= messages;
    },
    120_000,
  );
  await senders.stop();
  // On a busy machine, the service may not even get its half.
  t.diagnostic(`it waited for its share ${(group?.throttles ?? 0) - before} times`);
  await scene.waitForAccepted(120_000);
  assert.deepEqual(senders.refusals, []);
  assert.equal(scene.sink.mails.length, scene.accepted.size);
  assert.equal(await scene.metric('signalpost_database_up'), 1);
  assert.doesNotMatch(scene.log, /"level":[456]0/);
});
