import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { outcomeKinds } from '../../../src/content/message/event-kinds.ts';
import type { ClaimedMessage } from '../../../src/sending/queue/attempt.ts';
import { registerQueueMetrics } from '../../../src/sending/queue/queue-metrics.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { database, clock, log } = world;
const registry = new Registry();
const record = registerQueueMetrics(registry, database, clock, () => 0, log);

/** The queue metrics of a scrape. */
async function scrape(): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).matchAll(/^signalpost_queue_(\w+) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value]) => [name, Number(value)]));
}

test('the metrics show how many messages wait and how long the oldest has been due', async () => {
  assert.deepEqual(await scrape(), { entries: 0, oldest_due_seconds: 0 });
  await world.accept();
  const old = await world.accept();
  const paused = await world.accept();
  const move = 'update queued_delivery set due_at = $2 where message_id = $1';
  await database.pool.query(move, [old, new Date(Date.now() - 600_000)]);
  await database.pool.query(move, [paused, 'infinity']);
  const { entries, oldest_due_seconds: oldest = 0 } = await scrape();
  assert.equal(entries, 3);
  assert.ok(oldest >= 600 && oldest < 660, `${oldest} s`);
});

test('outcomes are counted by receiver, all of them from its first one', async () => {
  const message = { acceptedAt: new Date() } as ClaimedMessage;
  const detail = { server: 'mx:25' };
  record({
    message,
    events: [
      { id: '0', happenedAt: 0, kind: 'delivered', recipient: 0, detail, receiver: 'google' },
      { id: '1', happenedAt: 0, kind: 'bounced', recipient: 1, detail },
      { id: '2', happenedAt: 0, kind: 'expired', recipient: 2, detail: {} },
      { id: '3', happenedAt: 0, kind: 'warning', recipient: null, detail: {} },
    ],
  });
  const found = [
    ...(await registry.metrics()).matchAll(
      /_outcomes_total\{outcome="(.+)",receiver="(.+)"\} (.+)/g,
    ),
  ].map(([, outcome, receiver, value]) => ({ outcome, receiver, value }));
  assert.deepEqual(
    found.filter(({ value }) => value !== '0').map(({ receiver, outcome }) => [receiver, outcome]),
    [
      ['none', 'expired'],
      ['other', 'bounced'],
      ['google', 'delivered'],
    ],
  );
  assert.equal(found.length, 3 * outcomeKinds.length);
});

test('metrics that can’t be read are omitted from scrapes until they can', async () => {
  await database.pool.query('alter table queued_delivery rename to queued_delivery_away');
  assert.deepEqual(await scrape(), {});
  assert.match(await registry.metrics(), /^signalpost_database_up 0$/m);
  await database.pool.query('alter table queued_delivery_away rename to queued_delivery');
  assert.equal((await scrape()).entries, 3);
  assert.match(await registry.metrics(), /^signalpost_database_up 1$/m);
});
