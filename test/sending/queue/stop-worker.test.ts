import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();

async function leased(): Promise<number> {
  const { rows } = await world.database.pool.query(
    'select from queued_delivery where lease_owner is not null',
  );
  return rows.length;
}

test('a stop under load finishes messages being sent, releases the other leases, and loses and duplicates nothing', async () => {
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({ onMessage: () => gate.promise.then(() => undefined) });
  const ids: MessageId[] = [];
  for (let count = 0; count < 80; count += 1)
    ids.push(await world.accept({ to: `u${count}@people.test` }));
  const worker = world.deliverTo(sink.port, { worker: { slots: 40, graceMs: 10_000 } });
  await waitFor('dots', async () => {
    const { rows } = await world.database.pool.query(
      "select from queued_delivery where stage = 'dot'",
    );
    return rows.length === 10;
  });
  const stopped = worker.stop();
  await waitFor('the leases to be released', async () => (await leased()) === 10);
  gate.resolve();
  await stopped;
  assert.equal(await leased(), 0);
  assert.equal(sink.mails.length, 10);
  const { rows } = await world.database.pool.query<{ attempts: number }>(
    'select attempts from queued_delivery',
  );
  assert.equal(rows.length, 70);
  assert.ok(rows.every(({ attempts }) => attempts === 0));
  world.deliverTo(sink.port);
  for (const id of ids) await world.waitForState(id, 'delivered', 20_000);
  assert.equal(sink.mails.length, 80);
  await world.close();
});

test('a stop that takes too long drops the connections: before the dot, a message was not sent; after the dot, it is uncertain', async () => {
  const never = new Promise<undefined>(() => undefined);
  const sink = await startSink({
    onMessage: (mail) => (mail.to[0] === 'dot@people.test' ? never : undefined),
    options: {
      onRcptTo(address, _session, callback) {
        if (address.address !== 'slow@people.test') callback();
      },
    },
  });
  const dot = await world.accept({ to: 'dot@people.test' });
  const slow = await world.accept({ to: 'slow@people.test' });
  const worker = world.deliverTo(sink.port, { worker: { graceMs: 200 } });
  await waitFor('the dot', async () => (await world.entry(dot))?.stage === 'dot');
  await waitFor('the other', async () => (await world.entry(slow))?.stage === 'claimed');
  const started = Date.now();
  await worker.stop();
  assert.ok(Date.now() - started < 5_000);
  assert.equal(await world.state(dot), 'uncertain');
  assert.equal(await world.state(slow), 'queued');
  assert.equal((await world.entry(slow))?.attempts, 0);
  assert.equal(await leased(), 0);
});
