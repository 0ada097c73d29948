import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AccountId } from '../../src/base/values/ids.ts';
import { DeliveryWorld } from '../../test/support/delivery-world.ts';
import { acceptMany, startDirectNode } from '../../test/support/direct-world.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { TestMx } from '../../test/support/test-mx.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const limit = 50;
const seconds = Number(process.env.SETTLING_SECONDS ?? 150);
const settled = 60;

const accepted = new Map<number, number>();
const refused = new Map<number, number>();
const world = await DeliveryWorld.create();
const zones = await new TestDns().start();
const mx = await new TestMx({
  address: '127.0.0.45',
  port: 0,
  onData: () => {
    const second = Math.floor(Date.now() / 1_000);
    const taken = accepted.get(second) ?? 0;
    const counts = taken < limit ? accepted : refused;
    counts.set(second, (counts.get(second) ?? 0) + 1);
    return taken < limit ? undefined : '421 4.7.0 Too many messages, slow down';
  },
}).start();
zones
  .set('strict.test', { MX: [[10, 'mx.strict.test']] })
  .set('mx.strict.test', { A: ['127.0.0.45'] });

test('RFC 5321 421: two nodes settle within 10% below 50 messages/s in a minute; later less than 2% are refused', async (t) => {
  await acceptMany(world, 'a1' as AccountId, 'strict.test', limit * (seconds + 30));
  const nodes = [1, 2].map(() => startDirectNode(world, zones, mx.port, 250));
  after(() => Promise.all(nodes.map((node) => node.stop())));
  const start = Math.floor(Date.now() / 1_000) + 1;
  await waitFor('the time', () => Date.now() / 1_000 > start + seconds, (seconds + 30) * 1_000);
  const count = (from: number, of: ReadonlyMap<number, number>): number => {
    let total = 0;
    for (let at = from; at < seconds; at += 1) total += of.get(start + at) ?? 0;
    return total;
  };
  const shown = Array.from(
    { length: seconds },
    (_, at) => `${accepted.get(start + at) ?? 0}+${refused.get(start + at) ?? 0}`,
  );
  t.diagnostic(shown.join(' '));
  const rate = count(settled, accepted) / (seconds - settled);
  const part = count(settled, refused) / (count(settled, refused) + count(settled, accepted));
  t.diagnostic(`${rate.toFixed(1)}/s, ${(part * 100).toFixed(2)}% refused`);
  assert.ok(rate >= limit * 0.9 && rate <= limit, `${rate}`);
  assert.ok(part < 0.02, `${part}`);
});
