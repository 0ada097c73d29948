import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { AccountId, MessageId } from '../../../src/base/values/ids.ts';
import {
  type AttemptResult,
  type ClaimedMessage,
  suspectAfter,
} from '../../../src/sending/queue/attempt.ts';
import { endOrphanedLeases } from '../../../src/sending/queue/orphaned-lease-store.ts';
import { settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
afterEach(async () => {
  await world.close();
  await world.database.pool.query('delete from queued_delivery');
});

const lease = 10_000;

const delivered: AttemptResult = { result: { outcome: 'delivered', reason: '250 ok' }, notes: [] };

async function claimOne(
  stores: ReturnType<DeliveryWorld['stores']>,
  id: MessageId,
): Promise<ClaimedMessage> {
  const [found] = await claimAll(stores, id);
  assert.ok(found);
  return found;
}

/** In the order of its recipients. */
async function claimAll(
  { claims }: ReturnType<DeliveryWorld['stores']>,
  id: MessageId,
): Promise<ClaimedMessage[]> {
  return (await claims.claim([account], 10)).filter(({ messageId }) => messageId === id);
}

test('a claim takes transactional messages first, then those due longest, up to the requested number', async () => {
  const stores = world.stores();
  const ordinary = [await world.accept(), await world.accept()];
  const urgent = await world.accept({ transactional: true });
  const claimed = await stores.claims.claim([account], 2);
  assert.deepEqual(
    claimed.map(({ messageId }) => messageId),
    [urgent, ordinary[0]],
  );
  assert.deepEqual(
    (await stores.claims.claim([account], 5)).map(({ messageId }) => messageId),
    [ordinary[1]],
  );
});

test('a leased message is not claimed; when the lease ends, it is due again and counts as attempted', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const first = await claimOne(stores, id);
  assert.equal(first.attempt, 1);
  assert.deepEqual(await stores.claims.claim([account], 10), []);
  assert.deepEqual(await stores.claims.findDueAccounts(), []);
  await world.clock.advance(lease + 1);
  assert.deepEqual(await stores.claims.findDueAccounts(), [account]);
  const second = await claimOne(stores, id);
  assert.equal(second.attempt, 2);
  assert.equal(second.doubtful, false);
  assert.deepEqual(await world.events(id), []);
});

test('a worker that lost its lease can change nothing: no dot, no renewal, no outcome', async () => {
  const slow = world.stores(lease);
  const quick = world.stores(lease);
  const id = await world.accept();
  const stale = await claimOne(slow, id);
  await world.clock.advance(lease + 1);
  const current = await claimOne(quick, id);
  assert.deepEqual(await slow.leases.markDots([stale]), [false]);
  assert.deepEqual(await slow.leases.renew([stale]), [false]);
  assert.deepEqual(await slow.leases.complete([settleAttempt(stale, delivered, 0)]), [false]);
  assert.equal(await world.state(id), 'queued');
  assert.deepEqual(await world.events(id), []);
  assert.deepEqual(await quick.leases.markDots([current]), [true]);
  assert.deepEqual(await quick.leases.complete([settleAttempt(current, delivered, 0)]), [true]);
  assert.equal(await world.state(id), 'delivered');
});

test('a claim undone by a database crash is invalid, even if the same worker claims again', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const before = await world.entry(id);
  const undone = await claimOne(stores, id);
  await world.database.pool.query(
    `update queued_delivery set fence = $2, lease_owner = null, stage = null, attempts = 0, due_at = now()
     where message_id = $1`,
    [id, before?.fence],
  );
  const current = await claimOne(stores, id);
  assert.equal(current.fence, undone.fence);
  assert.deepEqual(await stores.leases.markDots([undone]), [false]);
  assert.deepEqual(await stores.leases.complete([settleAttempt(undone, delivered, 0)]), [false]);
  assert.deepEqual(await stores.leases.markDots([current]), [true]);
});

test('an expired lease grants no dot, even if no other worker took over', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const message = await claimOne(stores, id);
  await world.clock.advance(lease + 1);
  assert.deepEqual(await stores.leases.markDots([message]), [false]);
});

test('a batch grants each dot by its lease', async () => {
  const stores = world.stores(lease);
  const ids = [await world.accept(), await world.accept(), await world.accept()];
  const claimed = await stores.claims.claim([account], 4);
  await world.database.pool.query(
    'update queued_delivery set fence = fence + 1 where message_id = $1',
    [ids[1]],
  );
  assert.deepEqual(await stores.leases.markDots(claimed), [true, false, true]);
});

test('a lease that expires in stage dot makes its recipient uncertain, recorded before it is sent again', async () => {
  const stores = world.stores(lease);
  const id = await world.accept({ cc: ['bob@people.test', 'cy@people.test'] });
  const [to, , cy] = await claimAll(stores, id);
  assert.ok(to && cy);
  await stores.leases.markDots([to, cy]);
  await world.clock.advance(lease + 1);
  const again = await claimAll(world.stores(lease), id);
  assert.deepEqual(
    again.map(({ recipient, doubtful }) => [recipient, doubtful]),
    [
      [0, true],
      [1, false],
      [2, true],
    ],
  );
  assert.equal(await world.state(id), 'uncertain');
  const events = await world.events(id);
  assert.deepEqual(events.map(({ kind, recipient }) => [kind, recipient]).sort(), [
    ['uncertain', 0],
    ['uncertain', 2],
  ]);
  assert.equal(events[0]?.detail.attempt, 1);
});

test('a recipient in doubt stays so when the next worker dies before it settles it', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  await stores.leases.markDots([await claimOne(stores, id)]);
  await world.clock.advance(lease + 1);
  await claimOne(stores, id);
  await world.clock.advance(lease + 1);
  assert.equal((await claimOne(stores, id)).doubtful, true);
  assert.equal((await world.events(id)).length, 1);
});

test('an uncertain message is sent again with the same bytes if the template says so', async () => {
  const sink = await startSink();
  const stores = world.stores(lease);
  const id = await world.accept();
  await stores.leases.markDots([await claimOne(stores, id)]);
  await world.clock.advance(lease + 1);
  world.deliverTo(sink.port);
  await world.waitForState(id, 'delivered');
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['uncertain', 'delivered'],
  );
});

test('an uncertain message is held for review if the template says so', async () => {
  await world.database.pool.query("update template set when_uncertain = 'hold'");
  try {
    const sink = await startSink();
    const stores = world.stores(lease);
    const id = await world.accept();
    await stores.leases.markDots([await claimOne(stores, id)]);
    await world.clock.advance(lease + 1);
    world.deliverTo(sink.port);
    const entry = await world.waitUntilIdle(id);
    assert.equal(entry.due_in, Number.POSITIVE_INFINITY);
    assert.equal(entry.held, true);
    assert.match(entry.reason ?? '', /its template holds such messages for review/);
    assert.equal(await world.state(id), 'uncertain');
    assert.equal((await world.events(id)).length, 1);
    assert.equal(sink.mails.length, 0);
  } finally {
    await world.database.pool.query("update template set when_uncertain = 'resend'");
  }
});

test('a worker suspended between claim and dot sends nothing once another one has taken over', async () => {
  const sink = await startSink();
  const id = await world.accept();
  const barrier = Promise.withResolvers<void>();
  const atBarrier = Promise.withResolvers<void>();
  const stale = world.stores(lease);
  const { SmtpPool } = await import('../../../src/sending/delivery/smtp-pool.ts');
  const { inboxServer } = await import('../../../src/sending/delivery/smtp-server-settings.ts');
  const pool = new SmtpPool(inboxServer(sink.port));
  const message = await claimOne(stale, id);
  const paused = world.delivery(pool)(message, {
    stopping: new AbortController().signal,
    markDot: async () => {
      atBarrier.resolve();
      await barrier.promise;
      const [held] = await stale.leases.markDots([message]);
      return held === true;
    },
  });
  await atBarrier.promise;
  await world.clock.advance(lease + 1);
  world.deliverTo(sink.port);
  await world.waitForState(id, 'delivered');
  barrier.resolve();
  assert.equal(await paused, undefined);
  pool.drop();
  assert.equal(sink.mails.length, 1);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['delivered'],
  );
});

test('long attempts keep their lease', async () => {
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({ onMessage: () => gate.promise.then(() => undefined) });
  const id = await world.accept();
  const options = { worker: { leaseMs: 1_500 } };
  world.deliverTo(sink.port, options);
  world.deliverTo(sink.port, options);
  await waitFor('the dot', async () => (await world.entry(id))?.stage === 'dot');
  const { fence } = (await world.entry(id)) ?? {};
  const started = Date.now();
  await waitFor('more than a lease time', () => Date.now() - started > 2_000);
  assert.equal((await world.entry(id))?.fence, fence);
  gate.resolve();
  await world.waitForState(id, 'delivered');
  assert.equal(sink.mails.length, 1);
});

test('two workers on one database never send a message twice', async () => {
  const sink = await startSink();
  const ids: MessageId[] = [];
  for (let count = 0; count < 200; count += 1)
    ids.push(await world.accept({ to: `u${count}@people.test` }));
  const options = { worker: { slots: 8, pollMilliseconds: 20 } };
  const workers = [world.deliverTo(sink.port, options), world.deliverTo(sink.port, options)];
  await waitFor(
    'all to be sent',
    async () => {
      for (const worker of workers) worker.wake(account);
      const { rows } = await world.database.pool.query('select from queued_delivery');
      return rows.length === 0;
    },
    30_000,
  );
  assert.equal(sink.mails.length, ids.length);
  assert.equal(new Set(sink.mails.map(({ to }) => to[0])).size, ids.length);
});

test('a flood from one account does not delay another account’s single message', async () => {
  const other = 'small' as AccountId;
  await world.addAccount(other);
  const order: string[] = [];
  const sink = await startSink({
    onMessage: ({ to }) => {
      order.push(to[0] ?? '');
      return undefined;
    },
  });
  for (let count = 0; count < 300; count += 1) await world.accept();
  const single = await world.accept({ account: other, to: 'single@people.test' });
  world.deliverTo(sink.port, { worker: { slots: 8 } });
  await world.waitForState(single, 'delivered');
  const place = order.indexOf('single@people.test');
  assert.ok(place < 30, `sent as number ${place}`);
});

test('a released lease is due at once and does not count as an attempt', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const message = await claimOne(stores, id);
  const completion = settleAttempt(message, { notes: [] }, 0);
  assert.deepEqual(await stores.leases.complete([completion]), [true]);
  const entry = await world.entry(id);
  assert.equal(entry?.attempts, 0);
  assert.equal(entry?.lease_owner, null);
  assert.equal((await claimOne(stores, id)).attempt, 1);
});

test('an outcome with a reply of any length and content is stored', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const message = await claimOne(stores, id);
  const hostileReply = `\0\ud800 \\u0000 \\\\u0000 \\\0 ${'x'.repeat(200_000)}`;
  const completion = settleAttempt(
    message,
    {
      result: {
        outcome: 'deferred',
        reason: hostileReply,
        detail: {
          reply: hostileReply,
          transcript: Array.from({ length: 500 }, () => hostileReply),
        },
      },
      notes: [],
    },
    0,
  );
  assert.deepEqual(await stores.leases.complete([completion]), [true]);
  assert.equal(await world.state(id), 'deferred');
});

test('text that looks like an escape in a reply is stored unchanged', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const message = await claimOne(stores, id);
  const reply = '550 \\u0000 \\\\u0000 \\ud800 \u0000\ud800\u0007😀\\';
  const result = { outcome: 'bounced' as const, reason: reply, detail: { reply } };
  const completion = settleAttempt(message, { result, notes: [] }, 0);
  assert.deepEqual(await stores.leases.complete([completion]), [true]);
  const [event] = await world.events(id);
  assert.equal(event?.detail.reply, '550 \\u0000 \\\\u0000 \\ud800 \ufffd\u0007😀\\');
});

test('the secrets of a message are erased with its last recipient, whoever settles it', async () => {
  const settled = (message: ClaimedMessage) =>
    settleAttempt(message, { ...delivered, secretFields: ['Link'], hasOthers: true }, 0);
  const link = async (id: MessageId) =>
    ((await world.content(id)).values as { Link: unknown }).Link;
  // In one statement, by two workers at once, and one after the other.
  for (const steps of ['together', 'at once', 'in turn']) {
    const stores = [world.stores(lease), world.stores(lease)] as const;
    const id = await world.accept({ cc: ['bob@people.test'] });
    const [to, bob] = await claimAll(stores[0], id);
    assert.ok(to && bob);
    if (steps === 'together')
      assert.deepEqual(await stores[0].leases.complete([settled(to), settled(bob)]), [true, true]);
    else if (steps === 'at once') {
      const other = await world.database.pool.connect();
      await other.query('begin');
      await other.query('select from message where id = $1 for update', [id]);
      const both = [to, bob].map((one, n) => stores[n]?.leases.complete([settled(one)]));
      await waitFor('both to wait for each other', async () => {
        const { rows } = await world.database.pool.query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0]?.count === 2;
      });
      await other.query('commit');
      other.release();
      assert.deepEqual(await Promise.all(both), [[true], [true]]);
    } else {
      await stores[0].leases.complete([settled(bob)]);
      assert.equal(await link(id), 'https://shop.test/secret', 'To is still sent');
      await stores[1].leases.complete([settled(to)]);
    }
    assert.equal(await link(id), null, steps);
    assert.equal(await world.state(id), 'delivered');
    assert.deepEqual(await world.entries(id), []);
  }
});

test('a message with two orphaned leases is sent with nothing else in flight, for a limited time', async () => {
  const gates = new Map<MessageId, PromiseWithResolvers<void>>();
  const begun: MessageId[] = [];
  const gateOf = (id: MessageId): PromiseWithResolvers<void> => {
    const gate = gates.get(id) ?? Promise.withResolvers<void>();
    gates.set(id, gate);
    return gate;
  };
  const attempt = async (message: ClaimedMessage): Promise<AttemptResult> => {
    begun.push(message.messageId);
    await gateOf(message.messageId).promise;
    return delivered;
  };
  const isAlone = async (id: MessageId): Promise<boolean | undefined> => {
    const { rows } = await world.database.pool.query<{ alone: boolean }>(
      'select alone from queued_delivery where message_id = $1',
      [id],
    );
    return rows[0]?.alone;
  };
  const accept = async (orphaned = 0): Promise<MessageId> => {
    const id = await world.accept();
    await world.database.pool.query(
      'update queued_delivery set orphaned = $2 where message_id = $1',
      [id, orphaned],
    );
    return id;
  };
  const beginning = (id: MessageId) => waitFor('the attempt', () => begun.includes(id));
  const first = await accept();
  const worker = world.worker(attempt, { aloneMs: 2_000 });
  worker.start();
  await beginning(first);
  const suspect = await accept(suspectAfter);
  await waitFor('the claim', async () => (await world.entry(suspect))?.stage === 'claimed');
  assert.equal(await isAlone(suspect), false);
  assert.deepEqual(begun, [first]);
  gateOf(first).resolve();
  await beginning(suspect);
  assert.equal(await isAlone(suspect), true);
  // Its process dies: the next claim counts that, as it was alone.
  const beside = await accept();
  assert.equal((await world.entry(beside))?.lease_owner, null);
  // A slow one doesn't keep others waiting.
  await beginning(beside);
  assert.equal(await isAlone(suspect), false);
  for (const gate of gates.values()) gate.resolve();
  await world.waitForState(suspect, 'delivered');
  await world.waitForState(beside, 'delivered');
});

test('ASVS 4.0.3 11.1.4: messages that have to be sent alone take a small part of the time', async () => {
  const aloneMs = 300;
  const begunAt = new Map<MessageId, number>();
  let end = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    end = resolve;
  });
  const accept = async (orphaned: number): Promise<MessageId> => {
    const id = await world.accept();
    await world.database.pool.query(
      'update queued_delivery set orphaned = $2 where message_id = $1',
      [id, orphaned],
    );
    return id;
  };
  const first = await accept(suspectAfter);
  const attempt = async (message: ClaimedMessage): Promise<AttemptResult> => {
    begunAt.set(message.messageId, performance.now());
    if (message.messageId === first) await slow;
    return delivered;
  };
  const worker = world.worker(attempt, { aloneMs });
  worker.start();
  await waitFor('the first', () => begunAt.has(first));
  const beside = await accept(0);
  const second = await accept(suspectAfter);
  await waitFor('the one beside it', () => begunAt.has(beside));
  end();
  await world.waitForState(second, 'delivered');
  const between = (begunAt.get(second) ?? 0) - (begunAt.get(beside) ?? 0);
  assert.ok(between > 5 * aloneMs, `${between} ms`);
});

test('an orphaned lease counts until a message is suspect; then only one that was alone does', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const orphaned: number[] = [];
  for (const alone of [false, false, false, true, false, true]) {
    const message = await claimOne(stores, id);
    orphaned.push(message.orphaned);
    if (alone) assert.equal(await stores.leases.setAlone(message, true), true);
    await endOrphanedLeases(world.database);
  }
  const last = await claimOne(stores, id);
  assert.deepEqual([...orphaned, last.orphaned], [0, 1, 2, 2, 3, 3, 4]);
  // An outcome, or a stop, shows that the process lived.
  await stores.leases.complete([settleAttempt(last, { notes: [] }, 0)]);
  const retried = await claimOne(stores, id);
  assert.equal(retried.orphaned, suspectAfter);
  const result = { outcome: 'deferred' as const, reason: '450' };
  await stores.leases.complete([settleAttempt(retried, { result, notes: [] }, 0)]);
  await world.clock.advance(24 * 3_600_000);
  assert.equal((await claimOne(stores, id)).orphaned, 0);
});
