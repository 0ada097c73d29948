import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { SourcePools } from '../../../src/sending/delivery/direct/source-pools.ts';
import {
  allowance,
  dayOf,
  defaultWarmUpPlan,
  quotaDelayMs,
} from '../../../src/sending/delivery/warm-up/warm-up-plan.ts';
import { WarmUpStore } from '../../../src/sending/delivery/warm-up/warm-up-store.ts';
import { WarmUps } from '../../../src/sending/delivery/warm-up/warm-ups.ts';
import { DirectShop } from '../../support/direct-shop.ts';
import { runInProcess } from '../../support/run-command.ts';
import { waitFor } from '../../support/wait-for.ts';

const direct = await DirectShop.open(
  '127.0.0.81=mail.sender.test,young/127.0.0.82=young.sender.test,young/127.0.0.83=other.sender.test',
  { address: '127.0.0.80', port: 0 },
);
const { database, mx, zones, shop } = direct;
zones.set('home.test', { MX: [[10, 'mx.home.test']] }).set('mx.home.test', { A: ['127.0.0.80'] });
/** The nodes of this file use a fixed clock, so that no day ends during a test. */
const thatDay = dayOf(Date.now());
const noon = Date.parse(`${thatDay}T12:00:00Z`);

function run(...args: string[]) {
  return runInProcess(args, { DATABASE_URL: direct.databaseUrl, ...direct.environment });
}

function node(): WarmUps {
  return new WarmUps(new WarmUpStore(database, newId()), () => noon, createLog('silent'));
}

test('concurrent requests never take more than the daily share', async () => {
  const one = node();
  const plan = { from: thatDay, plan: [50, 100] };
  const taken = await Promise.all(Array.from({ length: 300 }, () => one.consume('domain:x', plan)));
  assert.equal(taken.filter(Boolean).length, 50);
  one.giveBack('domain:x');
  assert.deepEqual(
    [await one.consume('domain:x', plan), await one.consume('domain:x', plan)],
    [true, false],
  );
});

test('usage by other nodes counts, even for a node that starts in the middle of the day', async () => {
  const plan = { from: thatDay, plan: [10] };
  const first = node();
  for (let count = 0; count < 8; count += 1) await first.consume('domain:y', plan);
  await first.share();
  const second = node();
  const taken = [];
  for (let count = 0; count < 5; count += 1) taken.push(await second.consume('domain:y', plan));
  assert.deepEqual(taken, [true, true, false, false, false]);
});

test('a plan applies from its first day to its last, and waits end after midnight UTC', () => {
  const plan = { from: '2026-03-01', plan: [50, 71] };
  assert.deepEqual(
    ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'].map((day) => allowance(plan, day)),
    [0, 50, 71, undefined],
  );
  assert.deepEqual(defaultWarmUpPlan(200), [50, 71, 100, 141]);
  const evening = Date.parse('2026-03-01T23:50:00Z');
  for (const random of [0, 0.5, 1]) {
    const wait = quotaDelayMs(evening, random);
    assert.ok(wait >= 600_000 && wait <= 900_000);
  }
});

test('a source with a used-up share is skipped for another one of its pool', () => {
  const address = '192.0.2.1';
  const used: string[] = [];
  const limits = {
    mayUse: (source: { readonly address: string | undefined }) => source.address !== address,
    used: ({ address: text = '' }: { readonly address: string | undefined }) =>
      void used.push(text),
    unused: () => undefined,
  };
  const make = (text: string) => ({
    address: text,
    family: 4 as const,
    name: 'm.test',
    pool: 'default',
  });
  const both = new SourcePools([make(address), make('192.0.2.2')], 'm.test', limits);
  for (const random of [0, 0.5, 0.99]) both.choose(undefined, 4, random);
  assert.deepEqual(new Set(used), new Set(['192.0.2.2']));
  const alone = new SourcePools([make(address)], 'm.test', limits);
  assert.deepEqual([alone.families(undefined), alone.choose(undefined, 4, 0)], [[], undefined]);
});

test('an operator assigns a pool and warms up a source: it sends its share, and the rest of the pool sends the rest', async () => {
  const moved = await run('domain', 'pool', shop.id, 'shop.test', 'young');
  assert.equal(moved.code, 0, moved.err);
  assert.match(
    (await run('domain', 'pool', shop.id, 'shop.test', 'nowhere')).err,
    /DIRECT_SOURCES has no pool nowhere/,
  );
  assert.match(
    (await run('source', 'warm-up', '192.0.2.9', '--goal', '100')).err,
    /no address 192/,
  );
  const begun = await run('source', 'warm-up', '127.0.0.82', '--goal', '100');
  assert.match(
    begun.out,
    /127\.0\.0\.82 can send up to these numbers of recipients per day: 50, 71, then/,
    begun.err,
  );
  await database.pool.query("update source_warm_up set warm_up_plan = '{2,2}'");
  // A random choice between two would not skip one so many times in a row.
  let others = 0;
  while (others < 20) {
    mx.mails.length = 0;
    await direct.send('ann@home.test');
    await waitFor('the mail', () => mx.mails.length === 1);
    const peer = mx.mails[0]?.peer;
    assert.match(String(peer), /^127\.0\.0\.8[23]$/);
    others = peer === '127.0.0.83' ? others + 1 : 0;
  }
  // Nodes report their counts every two seconds. More than two if the node still uses the command's plan.
  const counts = new WarmUpStore(database, newId());
  await waitFor('the shared count', async () => {
    const used = await counts.usedOn(dayOf(Date.now()));
    return Number(used.get('source:127.0.0.82')) >= 2;
  });
  assert.match(
    (await run('source', 'list')).out,
    /^127\.0\.0\.82 +young +young\.sender\.test +warming up: \d+ of 2/m,
  );
});

test('mail waits with the reason if every source of its pool has used up its share', async () => {
  await run('source', 'warm-up', '127.0.0.83', '--goal', '100');
  await database.pool.query("update source_warm_up set warm_up_plan = '{1,1}'");
  const id = await waitFor('a message that waits', async () => {
    const next = await direct.send('ann@home.test');
    await waitFor('an outcome or a wait', async () => {
      const { body } = await direct.client.status(next);
      return body.state === 'delivered' || (await direct.reasonOf(next)) !== '';
    });
    return (await direct.reasonOf(next)) === '' ? undefined : next;
  });
  assert.match(
    await direct.reasonOf(id),
    /^waiting: the source addresses of pool young are warming up/,
  );
  const { rows } = await database.pool.query(
    'select attempts from queued_delivery where message_id = $1',
    [id],
  );
  assert.equal(rows[0]?.attempts, 0);
  for (const address of ['127.0.0.82', '127.0.0.83'])
    assert.match((await run('source', 'warm-up', address, '--off')).out, /has no warm-up plan/);
  await waitFor('delivery', async () => {
    await database.pool.query(
      'update queued_delivery set due_at = now() where lease_owner is null',
    );
    return (await direct.client.status(id)).body.state === 'delivered';
  });
});
