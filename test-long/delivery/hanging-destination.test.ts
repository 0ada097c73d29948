import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { AccountId } from '../../src/base/values/ids.ts';
import { DeliveryWorld } from '../../test/support/delivery-world.ts';
import { acceptMany, startDirectNode } from '../../test/support/direct-world.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { TestMx } from '../../test/support/test-mx.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const waiting = Number(process.env.HANGING_MESSAGES ?? 100_000);
const others = Number(process.env.OTHER_MESSAGES ?? 2_000);
const hangSeconds = Number(process.env.HANGING_SECONDS ?? 100);

const world = await DeliveryWorld.create();
const zones = await new TestDns().start();
const fast = await new TestMx({ address: '127.0.0.40', port: 0 }).start();
const sockets = new Set<Socket>();
const hanging = createServer((socket) => {
  sockets.add(socket.on('error', () => undefined));
});
await new Promise<void>((resolve) => hanging.listen(fast.port, '127.0.0.41', resolve));
after(() => {
  for (const socket of sockets) socket.destroy();
  hanging.close();
});
zones
  .set('fast.test', { MX: [[10, 'mx.fast.test']] })
  .set('mx.fast.test', { A: ['127.0.0.40'] })
  .set('hangs.test', { MX: [[10, 'mx.hangs.test']] })
  .set('mx.hangs.test', { A: ['127.0.0.41'] });
const same = 'a1' as AccountId;
const other = 'b1' as AccountId;
await world.addAccount(other);
await world.database.pool.query(
  `insert into destination (name, label, rate, good, connections, override_rate, override_connections)
   values ('fast.test', 'fast.test', 100, 50, 40, 100000, 40)`,
);

/** Messages per second from an account to the fast destination. */
async function measure(accountId: AccountId): Promise<number> {
  const before = fast.mails.length;
  await acceptMany(world, accountId, 'fast.test', others);
  const start = performance.now();
  node.worker.wake(accountId);
  await waitFor('the mails', () => fast.mails.length >= before + others, 300_000);
  return others / ((performance.now() - start) / 1_000);
}

const node = startDirectNode(world, zones, fast.port, 250);
after(() => node.stop());

test('a hanging destination with a long queue slows others by less than 5%', async (t) => {
  const rateOf = async (rounds: number): Promise<number> => {
    let seconds = 0;
    for (let round = 0; round < rounds; round += 1) seconds += others / (await measure(other));
    return (rounds * others) / seconds;
  };
  await rateOf(1);
  const before = await rateOf(3);
  await acceptMany(world, same, 'hangs.test', waiting);
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1_000;
  node.worker.wake(same);
  await acceptMany(world, same, 'fast.test', 1);
  const { length } = fast.mails;
  const behind = waitFor('mail behind the queue', () => fast.mails.length > length, 60_000);
  void behind.then(() =>
    t.diagnostic(`other mail of the same account after ${since().toFixed(1)} s`),
  );
  const rounds: { readonly at: number; readonly rate: number }[] = [];
  while (since() < hangSeconds) rounds.push({ at: since(), rate: await measure(other) });
  await behind;
  const { rows } = await world.database.pool.query<{
    reason: string;
    count: string;
    claimed: string;
  }>(
    `select regexp_replace(reason, '[0-9:]+', 'N', 'g') as reason, count(*), count(*) filter (where fence > 0) as claimed
     from queued_delivery group by 1 order by 2 desc limit 5`,
  );
  for (const { reason, count, claimed } of rows)
    t.diagnostic(`${count} × ${reason} (${claimed} were claimed)`);
  await world.database.pool.query('truncate queued_delivery');
  const after = await rateOf(3);
  const alone = (before + after) / 2;
  const beside = rounds.length / rounds.reduce((total, { rate }) => total + 1 / rate, 0);
  t.diagnostic(rounds.map(({ at, rate }) => `${at.toFixed(0)} s: ${rate.toFixed(0)}/s`).join(', '));
  t.diagnostic(
    `alone ${before.toFixed(0)}/s before, ${after.toFixed(0)}/s after; beside ${beside.toFixed(0)}/s: ${(beside / alone).toFixed(3)}`,
  );
  assert.ok(beside >= 0.95 * alone, `${beside} of ${alone}`);
});
