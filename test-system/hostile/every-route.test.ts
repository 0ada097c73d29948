import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { attackEveryRoute } from '../../test/support/any-request/attack-every-route.ts';
import { openHostileScene } from '../../test/support/any-request/hostile-scene.ts';

const scene = await openHostileScene();

for (const seed of [20_260_101, randomInt(2 ** 30)])
  test(`ASVS 4.0.3 5.1.3, 13.2.2: no request causes an internal error, changes another account or exhausts memory (seed ${seed})`, async (context) => {
    const before = await scene.readAccount();
    const { sent, statuses, failures } = await attackEveryRoute(scene, {
      seed,
      requests: 1_600,
      clients: 8,
    });
    context.diagnostic(`${sent} requests: ${JSON.stringify(statuses)}`);
    context.diagnostic(`${scene.residentMebibytes()} MiB at most`);
    for (const stack of scene.loggedErrors()) context.diagnostic(stack);
    assert.deepEqual(failures, []);
    await scene.requireHealth();
    assert.deepEqual(await scene.readAccount(), before);
  });

test('the service shuts down cleanly afterwards', async () => {
  assert.equal(await scene.stop(), 0);
});
