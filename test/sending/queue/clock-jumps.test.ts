import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const hours = 3_600_000;
afterEach(async () => {
  await world.close();
  await world.database.pool.query('delete from queued_delivery');
  await world.clock.reset();
});

/** A sink that blocks the first RCPT until it is released. */
async function startBlockingSink() {
  const atRecipient = Promise.withResolvers<void>();
  const resume = Promise.withResolvers<void>();
  let first = true;
  const sink = await startSink({
    options: {
      async onRcptTo(_address, _session, callback) {
        if (first) {
          first = false;
          atRecipient.resolve();
          await resume.promise;
        }
        callback();
      },
    },
  });
  return { sink, atRecipient: atRecipient.promise, resume: resume.resolve };
}

test('a clock that jumps 3 hours forward ends the lease of a message being sent: another worker sends it, once', async () => {
  const { sink, atRecipient, resume } = await startBlockingSink();
  const id = await world.accept();
  world.deliverTo(sink.port);
  await atRecipient;
  await world.clock.advance(3 * hours);
  world.deliverTo(sink.port);
  await world.waitForState(id, 'delivered');
  resume();
  await world.close();
  assert.equal(sink.mails.length, 1);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['delivered'],
  );
});

test('a clock that jumps 3 hours forward makes retries due and ends freshness windows, and the message shows it', async () => {
  let open = false;
  const sink = await startSink({ onMessage: () => (open ? undefined : '451 4.3.0 Later') });
  world.deliverTo(sink.port);
  const lasting = await world.accept();
  const fresh = await world.accept({ deliverWhenDelayed: false, lifetime: 900 });
  await world.waitForState(lasting, 'deferred');
  await world.waitForState(fresh, 'deferred');
  await world.waitUntilIdle(lasting);
  await world.waitUntilIdle(fresh);
  open = true;
  await world.clock.advance(3 * hours);
  await world.waitForState(lasting, 'delivered');
  await world.waitForState(fresh, 'expired');
  assert.match(
    String((await world.events(fresh)).at(-1)?.detail.reason),
    /could not be delivered within its freshness window/,
  );
});

test('a clock that jumps 3 hours back does not affect a message being sent', async () => {
  const { sink, atRecipient, resume } = await startBlockingSink();
  const id = await world.accept();
  world.deliverTo(sink.port);
  await atRecipient;
  await world.clock.advance(-3 * hours);
  world.deliverTo(sink.port);
  resume();
  await world.waitForState(id, 'delivered');
  assert.equal(sink.mails.length, 1);
});

test('after a clock was set back 3 hours, nothing waits for the old time to return', {
  timeout: 60_000,
}, async () => {
  let open = false;
  const sink = await startSink({ onMessage: () => (open ? undefined : '451 4.3.0 Later') });
  const stores = world.stores(30_000);
  const orphan = await world.accept();
  const [claimed] = await stores.claims.claim([account], 1);
  assert.equal(claimed?.messageId, orphan);
  const held = await world.accept({ subjectLine: '{{#Name}} never closed' });
  const deferred = await world.accept();
  const worker = world.deliverTo(sink.port, { worker: { leaseMs: 2_000 } });
  await world.waitForState(deferred, 'deferred');
  await world.waitForState(held, 'failed');
  await world.waitUntilIdle(deferred);
  const late = await world.accept();
  open = true;
  await world.clock.advance(-3 * hours);
  worker.wake(account);
  for (const id of [orphan, deferred, late]) await world.waitForState(id, 'delivered');
  assert.equal(await world.state(held), 'failed');
  assert.equal((await world.entry(held))?.due_in, Number.POSITIVE_INFINITY);
  await waitFor('one copy each', () => sink.mails.length === 3);
});
