import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { attackEveryRoute } from '../../test/support/any-request/attack-every-route.ts';
import { openHostileScene } from '../../test/support/any-request/hostile-scene.ts';

/** Number of requests and clients, the time limit, and the seed of an earlier run to repeat it. */
const requests = Number(process.env.EVERY_ROUTE_REQUESTS ?? 1_000_000);
const clients = Number(process.env.EVERY_ROUTE_CLIENTS ?? 16);
const minutes = Number(process.env.EVERY_ROUTE_MINUTES ?? 120);
const seed = Number(process.env.EVERY_ROUTE_SEED ?? randomInt(2 ** 30));

/** Access tokens last an hour. */
const renewMs = 45 * 60_000;

test(`ASVS 4.0.3 5.1.3, 13.2.2: up to ${requests} requests of every shape (seed ${seed})`, {
  timeout: (minutes + 10) * 60_000,
}, async (context) => {
  const scene = await openHostileScene();
  const before = await scene.readAccount();
  const startedAt = Date.now();
  const renewing = setInterval(() => void scene.renewCallers(), renewMs);
  const { sent, statuses, failures } = await attackEveryRoute(scene, {
    seed,
    requests,
    clients,
    onProgress(done, counts) {
      const seconds = Math.round((Date.now() - startedAt) / 1_000);
      const memory = scene.residentMebibytes();
      process.stderr.write(`${done} in ${seconds} s, ${memory} MiB ${JSON.stringify(counts)}\n`);
    },
    shouldStop: () => Date.now() - startedAt > minutes * 60_000,
  });
  clearInterval(renewing);
  context.diagnostic(`${sent} requests: ${JSON.stringify(statuses)}`);
  context.diagnostic(`${scene.residentMebibytes()} MiB at most`);
  for (const stack of scene.loggedErrors()) context.diagnostic(stack);
  assert.deepEqual(failures, []);
  await scene.requireHealth();
  assert.deepEqual(await scene.readAccount(), before);
  assert.equal(await scene.stop(), 0);
});
