import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { type AccountId, type MessageId, newId } from '../../../src/base/values/ids.ts';
import { SmtpPool } from '../../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../../src/sending/delivery/smtp-server-settings.ts';
import {
  type AttemptResult,
  type ClaimedMessage,
  suspectAfter,
} from '../../../src/sending/queue/attempt.ts';
import { endOrphanedLeases } from '../../../src/sending/queue/orphaned-lease-store.ts';
import { advanceAttempt, settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
afterEach(async () => {
  await world.close();
  await world.database.pool.query('delete from queue_entry');
});

const lease = 10_000;

function delivered(message: ClaimedMessage): AttemptResult {
  const results = message.pending.map((recipient) => ({
    recipient,
    outcome: 'delivered' as const,
    reason: '250 ok',
  }));
  return { results, notes: [] };
}

async function claimOne(
  stores: ReturnType<DeliveryWorld['stores']>,
  id: MessageId,
): Promise<ClaimedMessage> {
  const found = (await stores.claims.claim([account], 10)).find(
    ({ messageId }) => messageId === id,
  );
  assert.ok(found);
  return found;
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
  assert.equal(second.doubtful.length, 0);
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
  assert.deepEqual(await slow.leases.complete([settleAttempt(stale, delivered(stale), 0)]), [
    false,
  ]);
  assert.equal(await world.state(id), 'queued');
  assert.deepEqual(await world.events(id), []);
  assert.deepEqual(await quick.leases.markDots([current]), [true]);
  assert.deepEqual(await quick.leases.complete([settleAttempt(current, delivered(current), 0)]), [
    true,
  ]);
  assert.equal(await world.state(id), 'delivered');
});

test('a claim undone by a database crash is invalid, even if the same worker claims again', async () => {
  const stores = world.stores(lease);
  const id = await world.accept();
  const before = await world.entry(id);
  const undone = await claimOne(stores, id);
  await world.database.pool.query(
    `update queue_entry set fence = $2, lease_owner = null, stage = null, attempts = 0, due_at = now()
     where message_id = $1`,
    [id, before?.fence],
  );
  const current = await claimOne(stores, id);
  assert.equal(current.fence, undone.fence);
  assert.deepEqual(await stores.leases.markDots([undone]), [false]);
  assert.deepEqual(await stores.leases.complete([settleAttempt(undone, delivered(undone), 0)]), [
    false,
  ]);
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
    'update queue_entry set fence = fence + 1 where message_id = $1',
    [ids[1]],
  );
  assert.deepEqual(await stores.leases.markDots(claimed), [true, false, true]);
});

test('a lease that expires in stage dot makes the message uncertain, recorded before it is sent again', async () => {
  const stores = world.stores(lease);
  const id = await world.accept({ cc: ['bob@people.test'] });
  const message = await claimOne(stores, id);
  await stores.leases.markDots([message]);
  await world.clock.advance(lease + 1);
  const again = await claimOne(world.stores(lease), id);
  assert.deepEqual(again.doubtful, [0, 1]);
  assert.equal(await world.state(id), 'uncertain');
  const events = await world.events(id);
  assert.deepEqual(events.map(({ kind, recipient }) => [kind, recipient]).sort(), [
    ['uncertain', 0],
    ['uncertain', 1],
  ]);
  assert.equal(events[0]?.detail.attempt, 1);
});

test('recipients in doubt since an earlier transaction stay so when the worker dies in a later one', async () => {
  const stores = world.stores(lease);
  const id = await world.accept({ cc: ['bob@people.test'] });
  const message = await claimOne(stores, id);
  const uncertain = {
    recipient: 0,
    outcome: 'uncertain',
    reason: 'no reply',
    eventId: newId(),
    happenedAt: performance.now(),
  } as const;
  assert.deepEqual(await stores.leases.advance(advanceAttempt(message, [uncertain], [1])), [0, 1]);
  await stores.leases.markDots([message]);
  await world.clock.advance(lease + 1);
  const again = await claimOne(world.stores(lease), id);
  assert.deepEqual(again.doubtful, [0, 1]);
  assert.deepEqual(
    (await world.events(id)).map(({ kind, recipient }) => [kind, recipient]),
    [
      ['uncertain', 0],
      ['uncertain', 1],
    ],
  );
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
    assert.deepEqual(entry.held, [0]);
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
    advance: async (results) => results,
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
      const { rows } = await world.database.pool.query('select from queue_entry');
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
  const completion = settleAttempt(message, { results: [], notes: [] }, 0);
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
      results: [
        {
          recipient: 0,
          outcome: 'deferred',
          reason: hostileReply,
          detail: {
            reply: hostileReply,
            transcript: Array.from({ length: 500 }, () => hostileReply),
          },
        },
      ],
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
  const results = [{ recipient: 0, outcome: 'bounced' as const, reason: reply, detail: { reply } }];
  const completion = settleAttempt(message, { results, notes: [] }, 0);
  assert.deepEqual(await stores.leases.complete([completion]), [true]);
  const [event] = await world.events(id);
  assert.equal(event?.detail.reply, '550 \\u0000 \\\\u0000 \\ud800 \ufffd\u0007😀\\');
});

test('an outcome between two transactions is one event, even if the database’s reply to it is lost', async () => {
  const sink = await startSink();
  // Needs SMTPUTF8, so it gets a transaction of its own.
  const id = await world.accept({ cc: ['josé@people.test'] });
  const deliver = world.delivery(new SmtpPool(inboxServer(sink.port), { name: 'client.test' }));
  const lost: string[] = [];
  const worker = world.worker((message, held) =>
    deliver(message, {
      ...held,
      async advance(results, next) {
        const left = await held.advance(results, next);
        if (results.length === 0) return left;
        lost.push(...results.map(({ outcome }) => outcome));
        throw new Error('the connection was reset');
      },
    }),
  );
  worker.start();
  await waitFor('the queue entry to wait', async () => (await world.entry(id))?.pending[0] === 1);
  await world.waitUntilIdle(id);
  assert.deepEqual(lost, ['delivered']);
  assert.deepEqual(
    (await world.events(id)).map(({ kind, recipient }) => `${kind} ${recipient}`),
    ['delivered 0', 'deferred 1'],
  );
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
    return delivered(message);
  };
  const isAlone = async (id: MessageId): Promise<boolean | undefined> => {
    const { rows } = await world.database.pool.query<{ alone: boolean }>(
      'select alone from queue_entry where message_id = $1',
      [id],
    );
    return rows[0]?.alone;
  };
  const accept = async (orphaned = 0): Promise<MessageId> => {
    const id = await world.accept();
    await world.database.pool.query('update queue_entry set orphaned = $2 where message_id = $1', [
      id,
      orphaned,
    ]);
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
    await world.database.pool.query('update queue_entry set orphaned = $2 where message_id = $1', [
      id,
      orphaned,
    ]);
    return id;
  };
  const first = await accept(suspectAfter);
  const attempt = async (message: ClaimedMessage): Promise<AttemptResult> => {
    begunAt.set(message.messageId, performance.now());
    if (message.messageId === first) await slow;
    return delivered(message);
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
  await stores.leases.complete([settleAttempt(last, { results: [], notes: [] }, 0)]);
  const retried = await claimOne(stores, id);
  assert.equal(retried.orphaned, suspectAfter);
  const outcome = { recipient: 0, outcome: 'deferred' as const, reason: '450' };
  await stores.leases.complete([settleAttempt(retried, { results: [outcome], notes: [] }, 0)]);
  await world.clock.advance(24 * 3_600_000);
  assert.equal((await claimOne(stores, id)).orphaned, 0);
});
