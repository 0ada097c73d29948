import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { AccountId } from '../../src/foundation/ids.ts';
import { DeliveryWorld } from '../../test/support/delivery-world.ts';
import { acceptMany, startDirectNode } from '../../test/support/direct-world.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { TestMx } from '../../test/support/test-mx.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const waiting = Number(process.env.HANGING_MESSAGES ?? 100_000);
const others = Number(process.env.OTHER_MESSAGES ?? 6_000);

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

/** Messages per second of an account to the fast destination. */
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

test('a destination that hangs under a long queue costs others less than a twentieth of their rate', async (t) => {
  await measure(other);
  const alone = Math.max(await measure(other), await measure(other));
  await acceptMany(world, same, 'hangs.test', waiting);
  const start = performance.now();
  node.worker.wake(same);
  const beside = [await measure(other), await measure(other), await measure(other)];
  await waitFor(
    'the queue to be put off',
    async () => {
      const { rows } = await world.database.pool.query<{ due: string }>(
        "select count(*) as due from queue_entry where due_at <= now() + interval '1 s' and lease_owner is null",
      );
      return Number(rows[0]?.due) < 200;
    },
    600_000,
  );
  t.diagnostic(`put off after ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  const later = [await measure(other), await measure(other), await measure(same)];
  const show = (rates: readonly number[]): string =>
    rates.map((rate) => rate.toFixed(0)).join(', ');
  t.diagnostic(`alone ${alone.toFixed(0)}/s; at first ${show(beside)}/s; then ${show(later)}/s`);
  const { rows } = await world.database.pool.query<{ reason: string; count: string }>(
    "select regexp_replace(reason, '[0-9:]+', 'N', 'g') as reason, count(*) from queue_entry group by 1 order by 2 desc limit 5",
  );
  for (const { reason, count } of rows) t.diagnostic(`${count} × ${reason}`);
  assert.ok(Math.max(...later.slice(0, 2)) >= 0.95 * alone);
});
