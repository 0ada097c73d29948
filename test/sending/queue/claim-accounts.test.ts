import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { AccountId, MessageId } from '../../../src/base/values/ids.ts';
import type { ClaimedMessage } from '../../../src/sending/queue/attempt.ts';
import { Worker } from '../../../src/sending/queue/worker.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const { pool } = world.database;
const accounts = ['b1', 'b2', 'b3', 'b4'] as AccountId[];
for (const accountId of accounts) await world.addAccount(accountId);
afterEach(async () => {
  await world.close();
  await pool.query('delete from queued_delivery');
  await pool.query('delete from delivery_pause');
  await pool.query('update account set suspended_at = null');
});

/** Stores messages of every account. */
async function fill(perAccount: number): Promise<void> {
  for (const account of accounts)
    for (let count = 0; count < perAccount; count += 1) await world.accept({ account });
}

function countByAccount(claimed: readonly ClaimedMessage[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { accountId } of claimed) counts[accountId] = (counts[accountId] ?? 0) + 1;
  return counts;
}

test('one claim takes up to the requested number of each account’s messages', async () => {
  await fill(3);
  const { claims } = world.stores();
  assert.deepEqual(countByAccount(await claims.claim(accounts, 2)), { b1: 2, b2: 2, b3: 2, b4: 2 });
  assert.deepEqual(countByAccount(await claims.claim(accounts, 2)), { b1: 1, b2: 1, b3: 1, b4: 1 });
  assert.deepEqual(await claims.claim(accounts, 2), []);
});

test('a claim of several accounts takes each account’s transactional messages and near deadlines first', async () => {
  const expected: MessageId[] = [];
  for (const account of accounts.slice(0, 2)) await world.accept({ account });
  expected.push(await world.accept({ account: accounts[0] as AccountId, transactional: true }));
  const near = await world.accept({ account: accounts[1] as AccountId });
  await pool.query(
    "update queued_delivery set deliver_before = now() + interval '5 minutes' where message_id = $1",
    [near],
  );
  expected.push(near);
  const claimed = await world.stores().claims.claim(accounts, 1);
  assert.deepEqual(new Set(claimed.map(({ messageId }) => messageId)), new Set(expected));
});

test('a claim of several accounts takes nothing of suspended and paused ones', async () => {
  await fill(1);
  await pool.query("update account set suspended_at = now() where id = 'b1'");
  await pool.query(`insert into delivery_pause (account_id, destination, paused_at)
    values ('b2', '*', now()), ('b3', 'people.test', now())`);
  const claimed = await world.stores().claims.claim(accounts, 4);
  assert.deepEqual(countByAccount(claimed), { b3: 1, b4: 1 });
  const paused = claimed.map(({ accountId, pausedDestinations }) => [
    accountId,
    pausedDestinations,
  ]);
  assert.deepEqual(Object.fromEntries(paused), { b3: ['people.test'], b4: [] });
});

test('a claim of several accounts records only messages as uncertain whose lease expired in stage dot', async () => {
  await fill(1);
  const first = world.stores(10_000);
  const claimed = await first.claims.claim(accounts, 1);
  const marked = claimed.filter(({ accountId }) => accountId === 'b2' || accountId === 'b3');
  assert.deepEqual(await first.leases.markDots(marked), [true, true]);
  await world.clock.advance(10_001);
  const again = await world.stores().claims.claim(accounts, 1);
  for (const { accountId, messageId, doubtful } of again) {
    const isMarked = accountId === 'b2' || accountId === 'b3';
    assert.equal(doubtful, isMarked);
    assert.equal(await world.state(messageId), isMarked ? 'uncertain' : 'queued');
    const events = await world.events(messageId);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      isMarked ? ['uncertain'] : [],
    );
  }
});

test('a worker shares its slots evenly between accounts with a backlog', async () => {
  await fill(6);
  const started: AccountId[] = [];
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const worker = world.worker(
    async (message) => {
      started.push(message.accountId);
      await end;
      const delivered = { recipient: 0, outcome: 'delivered' as const, reason: '250 ok' };
      return { results: [delivered], notes: [] };
    },
    { slots: 8 },
  );
  worker.start();
  await waitFor('all slots to be used', () => started.length === 8);
  assert.deepEqual(started.toSorted(), ['b1', 'b1', 'b2', 'b2', 'b3', 'b3', 'b4', 'b4']);
  resolve();
  await waitFor('all messages to be sent', () => started.length === 24);
});

test('a worker that is told about messages of other processes looks before its next poll', async () => {
  const [account] = accounts as [AccountId];
  const sent = new Set<MessageId>();
  const worker = world.worker(
    async ({ messageId }) => {
      sent.add(messageId);
      return undefined;
    },
    { pollMs: 3_600_000 },
  );
  worker.start();
  const first = await world.accept({ account });
  worker.wake(account);
  await waitFor('the first message', () => sent.has(first));
  const second = await world.accept({ account });
  worker.pollSoon();
  await waitFor('the second message', () => sent.has(second));
});

test('a worker that is told about messages during a poll, which doesn’t see them, polls again at once', async () => {
  const [account] = accounts as [AccountId];
  const stores = world.stores();
  let polls = 0;
  let isSent = false;
  const worker = new Worker({
    ...stores,
    claims: {
      claim: (...asked) => stores.claims.claim(...asked),
      checkClock: () => stores.claims.checkClock(),
      async findDueAccounts() {
        const due = await stores.claims.findDueAccounts();
        polls += 1;
        if (polls > 1) return due;
        await world.accept({ account });
        worker.pollSoon();
        return due;
      },
    },
    async attempt() {
      isSent = true;
      return undefined;
    },
    log: world.log,
    options: { pollMs: 3_600_000 },
  });
  worker.start();
  await waitFor('the message', () => isSent).finally(() => worker.stop());
});

test('after a claim that left nothing waiting, what is accepted within 50 ms shares the next one', async () => {
  const [account] = accounts as [AccountId];
  const stores = world.stores();
  const claims: { readonly from: number; readonly until: number; readonly messages: number }[] = [];
  let sent = 0;
  const worker = new Worker({
    ...stores,
    claims: {
      async claim(...asked) {
        const from = performance.now();
        const claimed = await stores.claims.claim(...asked);
        claims.push({ from, until: performance.now(), messages: claimed.length });
        return claimed;
      },
      checkClock: () => stores.claims.checkClock(),
      findDueAccounts: () => stores.claims.findDueAccounts(),
    },
    async attempt() {
      sent += 1;
      return undefined;
    },
    log: world.log,
    options: { pollMs: 3_600_000 },
  });
  worker.start();
  try {
    for (let count = 1; count <= 12; count += 1) {
      await world.accept({ account });
      worker.wake(account);
    }
    await waitFor('all messages', () => sent === 12);
    const gaps = claims.slice(1).map(({ from }, index) => from - (claims[index]?.until ?? 0));
    // A timer counts from the time at which its turn of the event loop began, so it is early by
    // what that turn took; without the wait, the gap is the time of one insert.
    assert.ok(Math.min(...gaps) >= 40, `gaps of ${gaps.join(', ')} ms`);
    assert.equal(
      claims.reduce((sum, { messages }) => sum + messages, 0),
      12,
    );
  } finally {
    await worker.stop();
  }
});
