import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { registerQueueMetrics } from '../../src/queue/queue-metrics.ts';
import { QueueSizeStore } from '../../src/queue/queue-size-store.ts';
import { DeliveryWorld } from '../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { database, clock, log } = world;
const registry = new Registry();
registerQueueMetrics(registry, new QueueSizeStore(database), clock, () => 0, log);

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
  const move = 'update queue_entry set due_at = $2 where message_id = $1';
  await database.pool.query(move, [old, new Date(Date.now() - 600_000)]);
  await database.pool.query(move, [paused, 'infinity']);
  const { entries, oldest_due_seconds: oldest = 0 } = await scrape();
  assert.equal(entries, 3);
  assert.ok(oldest >= 600 && oldest < 660, `${oldest} s`);
});

test('metrics that can’t be read are omitted from scrapes until they can', async () => {
  await database.pool.query('alter table queue_entry rename to queue_entry_away');
  assert.deepEqual(await scrape(), {});
  await database.pool.query('alter table queue_entry_away rename to queue_entry');
  assert.equal((await scrape()).entries, 3);
});
