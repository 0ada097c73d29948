import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { afterEach, test } from 'node:test';
import fc from 'fast-check';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { readMessageStatus } from '../../../src/content/message/message-status-store.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import { QueueControlStore } from '../../../src/sending/queue/control-store.ts';
import { endOrphanedLeases } from '../../../src/sending/queue/orphaned-lease-store.ts';
import { ScheduleStore } from '../../../src/sending/queue/schedule-store.ts';
import { settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';
import { account, DeliveryWorld, type MessageDraft } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const controls = new QueueControlStore(world.database);
afterEach(async () => {
  await world.close();
  await world.database.pool.query('delete from queued_delivery');
  await world.database.pool.query('delete from delivery_pause');
});

const accountId = account;

test('a paused message is not sent until it is resumed, and shows the reason', async () => {
  const sink = await startSink();
  const messageId = await world.accept();
  assert.deepEqual(await controls.control('pause', { accountId, messageId }), {
    changed: 1,
    busy: 0,
  });
  world.deliverTo(sink.port);
  const other = await world.accept();
  await world.waitForState(other, 'delivered');
  const entry = await world.entry(messageId);
  assert.equal(entry?.due_in, Number.POSITIVE_INFINITY);
  assert.equal(entry?.reason, 'paused manually');
  await controls.control('resume', { accountId, messageId });
  await world.waitForState(messageId, 'delivered');
  const kinds = (await world.events(messageId)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['pause-asked', 'resume-asked', 'delivered']);
});

test('a paused account sends nothing, including later messages, until it is resumed', async () => {
  const sink = await startSink();
  await controls.control('pause', { accountId });
  assert.deepEqual(await controls.pausedDestinations(accountId), ['*']);
  const worker = world.deliverTo(sink.port);
  const id = await world.accept();
  worker.wake(accountId);
  const claimed = await world.stores().claims.claim([accountId], 10);
  assert.deepEqual(claimed, []);
  assert.deepEqual(await world.stores().claims.findDueAccounts(), []);
  await controls.control('resume', { accountId });
  await world.waitForState(id, 'delivered');
});

test('messages to a paused destination wait with the reason, others are sent, and waiting is not an attempt', async () => {
  const sink = await startSink();
  await controls.control('pause', { accountId, destination: 'people.test' });
  world.deliverTo(sink.port);
  const waits = await world.accept();
  const goes = await world.accept({ to: 'x@elsewhere.test', cc: ['ann@people.test'] });
  await world.waitForState(goes, 'delivered');
  const entry = await waitFor('the reason', async () => {
    const found = await world.entry(waits);
    return found?.reason === null ? undefined : found;
  });
  assert.equal(entry?.attempts, 0);
  assert.match(entry?.reason ?? '', /destination is paused/);
  const left = (await world.entries(goes)).map(({ recipient }) => recipient);
  assert.deepEqual(left, [1]);
  await controls.control('resume', { accountId, destination: 'people.test' });
  await world.waitForState(waits, 'delivered');
  await waitFor('the cc', () => sink.mails.length === 3);
  assert.equal(sink.mails[0]?.to[0], 'x@elsewhere.test');
});

/** A message deferred for a pause, for a minute that no test waits. */
async function deferForPause(count: number, draft: MessageDraft = {}): Promise<void> {
  for (let place = 0; place < count; place += 1) await world.accept(draft);
  await world.database.pool.query(
    `update queued_delivery set due_at = now() + interval '1 minute', reason = 'its destination is paused'`,
  );
}

async function waiting(): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: number }>(
    `select count(*)::int as count from queued_delivery where reason = 'its destination is paused' and due_at > now()`,
  );
  return rows[0]?.count ?? 0;
}

test('a resume makes all messages that waited for the pause due, and nothing else', async () => {
  await controls.control('pause', { accountId, destination: 'people.test' });
  await deferForPause(1_201);
  await deferForPause(1, { to: 'x@elsewhere.test', cc: ['Ann@People.Test'] });
  await deferForPause(1, { to: 'x@elsewhere.test' });
  const held = await world.accept();
  await controls.control('pause', { accountId, messageId: held });
  await controls.control('resume', { accountId, destination: 'people.test' });
  assert.equal(await waiting(), 2, 'the recipients elsewhere');
  assert.equal((await world.entry(held))?.due_in, Number.POSITIVE_INFINITY);
  await controls.control('resume', { accountId });
  assert.equal(await waiting(), 2, 'the account was not paused');
  await controls.control('pause', { accountId });
  await controls.control('resume', { accountId });
  assert.equal(await waiting(), 0);
});

test('a canceled message ends as canceled, with its secret values erased', async () => {
  const sink = await startSink({ onMessage: () => '451 4.3.0 Not now' });
  world.deliverTo(sink.port);
  const messageId = await world.accept();
  await world.waitForState(messageId, 'deferred');
  await world.waitUntilIdle(messageId);
  await controls.control('cancel', { accountId, messageId });
  await world.waitForState(messageId, 'canceled');
  assert.equal(await world.entry(messageId), undefined);
  assert.deepEqual((await world.content(messageId)).values, { Name: 'Ann', Link: null });
});

test('retry now sends deferred and failed messages at once', async () => {
  let open = false;
  const sink = await startSink({ onMessage: () => (open ? undefined : '451 4.3.0 Not now') });
  world.deliverTo(sink.port);
  const deferred = await world.accept();
  const failed = await world.accept({ subjectLine: '{{#broken' });
  await world.waitForState(deferred, 'deferred');
  await world.waitForState(failed, 'failed');
  await world.waitUntilIdle(deferred);
  await world.waitUntilIdle(failed);
  open = true;
  await world.database.pool.query(
    `update message set content = (content::jsonb - 'subjectLine')::json where id = $1`,
    [failed],
  );
  assert.deepEqual(await controls.control('retry', { accountId, destination: 'people.test' }), {
    changed: 2,
    busy: 0,
  });
  await world.waitForState(deferred, 'delivered');
  await world.waitForState(failed, 'delivered');
});

test('a message being sent is not interrupted; a pause applies after its attempt', async () => {
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({ onMessage: () => gate.promise.then(() => '451 4.3.0 Not now') });
  world.deliverTo(sink.port);
  const messageId = await world.accept();
  await waitFor('the dot', async () => (await world.entry(messageId))?.stage === 'dot');
  assert.deepEqual(await controls.control('retry', { accountId, messageId }), {
    changed: 0,
    busy: 1,
  });
  assert.deepEqual(await controls.control('pause', { accountId, messageId }), {
    changed: 1,
    busy: 1,
  });
  gate.resolve();
  await world.waitForState(messageId, 'deferred');
  const entry = await world.waitUntilIdle(messageId);
  assert.equal(entry.due_in, Number.POSITIVE_INFINITY);
});

test('a cancellation applies right after the current attempt, and a failure then is held for review', async () => {
  const messageId = await world.accept();
  const worker = world.worker(async (message) => {
    if (!message.canceled) await controls.control('cancel', { accountId, messageId });
    const outcome = message.canceled ? 'failed' : 'deferred';
    return { result: { outcome, reason: 'so the test says' }, notes: [] };
  });
  worker.start();
  await world.waitForState(messageId, 'failed');
  const entry = await world.waitUntilIdle(messageId);
  assert.deepEqual([entry.attempts, entry.due_in, entry.held], [2, Number.POSITIVE_INFINITY, true]);
});

test('controls work for more messages than fit in one statement', async () => {
  for (let count = 0; count < 1_201; count += 1) await world.accept();
  const { changed } = await controls.control('cancel', { accountId });
  assert.equal(changed, 1_201);
});

test('an account can’t control another account’s message', async () => {
  const messageId = await world.accept();
  const other = 'other' as typeof accountId;
  assert.deepEqual(await controls.control('cancel', { accountId: other, messageId }), {
    changed: 0,
    busy: 0,
  });
});

/** A claim by a worker that dies. @param during happens while it holds the lease */
async function claimAndDie(during: () => Promise<unknown> = async () => undefined): Promise<void> {
  assert.equal((await world.stores().claims.claim([accountId], 1)).length, 1);
  await during();
  await endOrphanedLeases(world.database);
}

test('a message whose worker died can be paused, isn’t sent by a restart, and is sent once it is resumed', async () => {
  const messageId = await world.accept();
  await claimAndDie();
  await controls.control('pause', { accountId, messageId });
  const status = await readMessageStatus(world.database.kysely, accountId, messageId);
  const [queued] = status?.queued ?? [];
  assert.deepEqual([queued?.leased, queued?.paused], [false, 'message']);
  await endOrphanedLeases(world.database);
  const sink = await startSink();
  world.deliverTo(sink.port);
  await world.waitForState(await world.accept(), 'delivered');
  assert.equal(await world.state(messageId), 'queued');
  assert.deepEqual(await controls.control('resume', { accountId, messageId }), {
    changed: 1,
    busy: 0,
  });
  await world.waitForState(messageId, 'delivered');
});

test('a message that is paused while it is being sent isn’t sent again after its worker died, until it is resumed', async () => {
  const messageId = await world.accept();
  await claimAndDie(() => controls.control('pause', { accountId, messageId }));
  const sink = await startSink();
  world.deliverTo(sink.port);
  const entry = await world.waitUntilIdle(messageId);
  assert.deepEqual([entry.due_in, entry.attempts], [Number.POSITIVE_INFINITY, 1]);
  assert.equal(entry.reason, 'paused manually');
  assert.equal(sink.mails.length, 0);
  await controls.control('resume', { accountId, messageId });
  await world.waitForState(messageId, 'delivered');
});

test('no order of claims, deaths and actions leaves a message that cannot be resumed, retried or canceled', async () => {
  const { claims, leases } = world.stores();
  const person = {
    accountId,
    address: 'cc@people.test' as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
  };
  const steps: Record<string, (messageId: MessageId) => Promise<unknown>> = {
    claim: () => claims.claim([accountId], 1),
    die: () => endOrphanedLeases(world.database),
    pause: (messageId) => controls.control('pause', { accountId, messageId }),
    resume: (messageId) => controls.control('resume', { accountId, messageId }),
    cancel: (messageId) => controls.control('cancel', { accountId, messageId }),
    retry: (messageId) => controls.control('retry', { accountId, messageId }),
    move: (messageId) =>
      new ScheduleStore(world.database).move(
        { accountId, messageId },
        new Date(Date.now() + 7_200_000),
      ),
    erase: () => erasePerson(world.database.kysely, { ...person, keepSuppressions: false }),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(steps)), { minLength: 1, maxLength: 8 }),
      async (order) => {
        await world.database.pool.query('delete from queued_delivery');
        const messageId = await world.accept({ cc: ['cc@people.test'] });
        for (const step of order) await steps[step]?.(messageId);
        await endOrphanedLeases(world.database);
        const status = await readMessageStatus(world.database.kysely, accountId, messageId);
        const queued = status?.queued ?? [];
        assert.ok(queued.every(({ leased }) => !leased));
        if (queued.some(({ paused }) => paused === 'message')) {
          const resumed = await controls.control('resume', { accountId, messageId });
          assert.deepEqual(resumed, { changed: 1, busy: 0 });
        }
        const claimed = await claims.claim([accountId], 2);
        assert.deepEqual(
          claimed.map(({ recipient, paused }) => [recipient, paused]),
          [
            [0, false],
            [1, false],
          ],
        );
        await leases.complete(claimed.map((one) => settleAttempt(one, { notes: [] }, 0)));
      },
    ),
  );
});
