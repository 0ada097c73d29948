import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { acceptMany, startDirectNode } from '../../support/direct-world.ts';
import { TestDns } from '../../support/test-dns.ts';
import { TestMx } from '../../support/test-mx.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const zones = await new TestDns().start();
const fast = await new TestMx({ address: '127.0.0.46', port: 0 }).start();
const sockets = new Set<Socket>();
const hanging = createServer((socket) => {
  sockets.add(socket.on('error', () => undefined));
});
await new Promise<void>((resolve) => hanging.listen(fast.port, '127.0.0.47', resolve));
after(() => {
  for (const socket of sockets) socket.destroy();
  hanging.close();
});
zones
  .set('fast.test', { MX: [[10, 'mx.fast.test']] })
  .set('mx.fast.test', { A: ['127.0.0.46'] })
  .set('hangs.test', { MX: [[10, 'mx.hangs.test']] })
  .set('mx.hangs.test', { A: ['127.0.0.47'] })
  .set('refuses.test', { MX: [[10, 'mx.refuses.test']] })
  .set('mx.refuses.test', { A: ['127.0.0.48'] });
const accountId = 'a1' as AccountId;
const node = startDirectNode(world, zones, fast.port, 100);
after(() => node.stop());

async function counts(domain: string) {
  const { rows } = await world.database.pool.query<{
    waiting: number;
    due: number;
    unclaimed: number;
    withTime: number;
    known: number;
  }>(
    `select count(*)::int as waiting,
       (count(*) filter (where due_at <= now() and lease_owner is null))::int as due,
       (count(*) filter (where fence = 0))::int as unclaimed,
       (count(*) filter (where reason ~ '^waiting: .* next at \\d\\d:\\d\\d'))::int as "withTime",
       (count(*) filter (where reason ~ 'have been busy since|could be reached at'))::int as known
     from queued_delivery q join message m on m.id = q.message_id
     where m.content ->> 'to' like '%@' || $1 and q.lease_owner is null`,
    [domain],
  );
  assert.ok(rows[0]);
  return rows[0];
}

for (const domain of ['hangs.test', 'refuses.test']) {
  test(`a long backlog for ${domain} is deferred without an attempt for each message, and each shows the reason`, async () => {
    // First, let the node learn that the destination is unreachable.
    await acceptMany(world, accountId, domain, 30);
    await waitFor('the fault to be known', async () => (await counts(domain)).known > 0, 30_000);
    const before = fast.mails.length;
    await acceptMany(world, accountId, domain, 6_000);
    await acceptMany(world, accountId, 'fast.test', 20);
    node.worker.wake(accountId);
    await waitFor('the mail behind the backlog', () => fast.mails.length === before + 20, 30_000);
    const seen = await waitFor('the backlog to be deferred', async () => {
      const now = await counts(domain);
      return now.waiting > 5_800 && now.due < 300 ? now : undefined;
    });
    // How many messages a worker claims before it recognizes the backlog depends on its speed.
    assert.ok(seen.unclaimed > 1_500, `${seen.unclaimed} were not claimed`);
    // The first few were attempted and show the result.
    assert.ok(
      seen.withTime >= seen.waiting - 50,
      `${seen.withTime} of ${seen.waiting} show a time`,
    );
  });
}
