import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { readSendingDomain } from '../../../src/accounts/sender/sending-domain-store.ts';
import { openDatabase } from '../../../src/base/database/open-database.ts';
import { newId } from '../../../src/base/values/ids.ts';
import type { Engagement } from '../../../src/outcomes/tracking/engagement.ts';
import { writeEngagements } from '../../../src/outcomes/tracking/engagement-store.ts';
import { createDelivery } from '../../../src/sending/delivery/deliver-message.ts';
import { SmtpPool } from '../../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../../src/sending/delivery/smtp-server-settings.ts';
import type { ClaimedMessage } from '../../../src/sending/queue/attempt.ts';
import { ClaimStore } from '../../../src/sending/queue/claim-store.ts';
import { LeaseStore } from '../../../src/sending/queue/lease-store.ts';
import { settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';
import { Worker } from '../../../src/sending/queue/worker.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { plainDelivery } from '../../support/plain-delivery.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A worker that is connected to the database through a gate. */
async function startBehindGate(port: number) {
  const gate = await openGate(world.url);
  const database = openDatabase({ url: gate.url });
  const { log } = world;
  const worker = new Worker({
    claims: new ClaimStore(database, 30_000),
    leases: new LeaseStore(database, 30_000),
    attempt: world.delivery(new SmtpPool(inboxServer(port))),
    log,
    options: { pollMs: 50, graceMs: 200 },
  });
  worker.start();
  closers.push(async () => {
    gate.open();
    await worker.stop();
    await database.close();
  });
  return { gate, worker };
}

test('a reply that arrives while the database is down is written when it is back: delivered once', async () => {
  const gateOpen = Promise.withResolvers<void>();
  const sink = await startSink({ onMessage: () => gateOpen.promise.then(() => undefined) });
  const { gate } = await startBehindGate(sink.port);
  const id = await world.accept();
  await waitFor('the dot', async () => (await world.entry(id))?.stage === 'dot');
  gate.close();
  gateOpen.resolve();
  await waitFor('the reply', () => sink.mails.length === 1);
  assert.equal((await world.entry(id))?.stage, 'dot');
  gate.open();
  await world.waitForState(id, 'delivered');
  assert.equal(sink.mails.length, 1);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['delivered'],
  );
});

/** An open by a person, at a time by `performance.now()`. */
function opened({ messageId, retentionDays }: ClaimedMessage, at: number): Engagement {
  return {
    id: newId(),
    message: { accountId: account, messageId, retentionDays },
    kind: 'opened',
    at,
    link: undefined,
    hidden: false,
    verdict: { class: 'person', reason: 'no sign of a scanner or prefetch' },
    userAgent: 'Firefox',
    network: '203.0.113.0/24',
  };
}

test('an outcome has the time of the reply, however late the database takes it, and opens wait for it: those since the reply are of people', async () => {
  const before = (ms: number): number => performance.now() - ms;
  for (const [outcome, expected] of [
    ['delivered', ['person', 'scanner']],
    ['bounced', ['person', 'scanner']],
    ['deferred', ['scanner', 'scanner']],
  ] as const) {
    const id = await world.accept();
    const { claims, leases } = world.stores(30_000);
    const [message] = await claims.claim([account], 1);
    assert.ok(message);
    assert.deepEqual(await leases.markDots([message]), [true]);
    const opens = [30_000, 90_000].map((ms) => opened(message, before(ms)));
    const early = await writeEngagements(world.database, opens, false);
    assert.deepEqual([...early.undecided].sort(), opens.map((item) => item.id).sort());
    assert.deepEqual(await world.events(id), []);
    const result = { recipient: 0, outcome, reason: 'reply', happenedAt: before(60_000) };
    const completion = settleAttempt(message, { results: [result], notes: [] }, 0);
    assert.deepEqual(await leases.complete([completion]), [true]);
    if (outcome !== 'deferred') {
      const { rows } = await world.database.pool.query(
        `select round(extract(epoch from now() - m.state_at) / 10)::int as "stateTens",
           round(extract(epoch from now() - e.at) / 10)::int as "eventTens"
         from message m join message_event e on e.message_id = m.id where m.id = $1`,
        [id],
      );
      assert.deepEqual(rows, [{ stateTens: 6, eventTens: 6 }]);
    }
    const late = await writeEngagements(world.database, opens, false);
    assert.equal(late.undecided.size, 0);
    const events = (await world.events(id)).filter(({ kind }) => kind === 'opened');
    assert.deepEqual(events.map(({ detail }) => detail.class).sort(), expected, outcome);
  }
});

test('an open whose delivery has no outcome after a minute, or at a shutdown, came before the message was delivered', async () => {
  const { claims, leases } = world.stores(30_000);
  for (const [waiting, decide] of [
    [{ waitsSince: performance.now() - 61_000 }, false],
    [{}, true],
  ] as const) {
    const id = await world.accept();
    const [message] = await claims.claim([account], 1);
    assert.ok(message);
    await leases.markDots([message]);
    const open = { ...opened(message, performance.now()), ...waiting };
    const { undecided } = await writeEngagements(world.database, [open], decide);
    assert.equal(undecided.size, 0);
    const [event] = await world.events(id);
    assert.equal(event?.detail.reason, 'came before the message was delivered');
  }
});

test('if the database fails before the dot, nothing is sent, and the message waits for its next attempt with the reason', async () => {
  const atRecipient = Promise.withResolvers<void>();
  const resume = Promise.withResolvers<void>();
  const dropped = Promise.withResolvers<void>();
  const sink = await startSink({
    options: {
      onClose: () => dropped.resolve(),
      async onRcptTo(_address, _session, callback) {
        atRecipient.resolve();
        await resume.promise;
        callback();
      },
    },
  });
  const { gate } = await startBehindGate(sink.port);
  const id = await world.accept();
  await atRecipient.promise;
  gate.close();
  resume.resolve();
  await dropped.promise;
  assert.equal(sink.mails.length, 0);
  gate.open();
  await world.waitForState(id, 'deferred');
  const entry = await world.waitUntilIdle(id);
  assert.match(entry.reason ?? '', /Signalpost’s database did not respond/);
  await world.clock.advance(20_000);
  await world.waitForState(id, 'delivered');
  assert.equal(sink.mails.length, 1);
});

test('if the database fails while what a message needs is read, it is sent once the database is back, and the attempt doesn’t count', async () => {
  const sink = await startSink();
  const gate = await openGate(world.url);
  const reads = openDatabase({ url: gate.url });
  closers.push(() => reads.close());
  const afterRead =
    <Args extends unknown[], Result>(next: (...args: Args) => Result) =>
    async (...args: Args): Promise<Awaited<Result>> => {
      await readSendingDomain(reads.kysely, account, 'shop.test');
      return await next(...args);
    };
  for (const needing of [
    { findIdentity: afterRead(plainDelivery.findIdentity) },
    { decorate: afterRead(plainDelivery.decorate) },
  ]) {
    const worker = world.worker(
      createDelivery({
        ...plainDelivery,
        findVersion: () => world.template,
        transport: new SmtpPool(inboxServer(sink.port)),
        staging: { redirect: undefined, allow: [] },
        log: world.log,
        ...needing,
      }),
    );
    gate.close();
    const id = await world.accept();
    worker.start();
    const entry = await waitFor('the message to be released', async () => {
      const found = await world.entry(id);
      return found?.reason != null && found;
    });
    const what = `while ${Object.keys(needing)} reads`;
    assert.match(entry.reason ?? '', /^Signalpost’s database did not respond/, what);
    assert.deepEqual([entry.attempts, entry.held, await world.events(id)], [0, [], []], what);
    assert.ok(entry.due_in <= 5, `${what}, due in ${entry.due_in}`);
    gate.open();
    await world.clock.advance(5_000);
    await world.waitForState(id, 'delivered');
    const copies = sink.mails.filter(({ source }) => source.includes(id));
    assert.equal(copies.length, 1, what);
    await worker.stop();
  }
});

test('a worker resumes automatically when the database is back', async () => {
  const sink = await startSink();
  const { gate, worker } = await startBehindGate(sink.port);
  const first = await world.accept();
  await world.waitForState(first, 'delivered');
  gate.close();
  const second = await world.accept();
  worker.wake('a1' as never);
  await waitFor('the worker to have tried several times', () => gate.blockedCount >= 3);
  assert.equal(await world.state(second), 'queued');
  gate.open();
  await world.waitForState(second, 'delivered');
});

test('a silent database is treated like an unreachable one', {
  timeout: 60_000,
}, async () => {
  const sink = await startSink();
  const { gate, worker } = await startBehindGate(sink.port);
  const first = await world.accept();
  await world.waitForState(first, 'delivered');
  gate.hold();
  const second = await world.accept();
  worker.wake('a1' as never);
  await waitFor('a statement without an answer', () => gate.blockedCount >= 1);
  gate.open();
  await world.waitForState(second, 'delivered', 40_000);
});

test('an outcome that the database can’t store stops no other work, even if it comes alone', async () => {
  const { pool } = world.database;
  const sink = await startSink();
  const broken = await world.accept();
  await pool.query(`
    create function refuse_events() returns trigger language plpgsql as $$
    begin raise exception 'no' using errcode = '22023'; end $$;
    create trigger refuse_events before insert on message_event for each row
    when (new.message_id = '${broken}') execute function refuse_events()`);
  closers.push(async () => {
    await pool.query('drop function refuse_events cascade');
  });
  await startBehindGate(sink.port);
  await waitFor('the mail', () => sink.mails.length === 1);
  for (let time = 0; time < 3; time += 1) {
    const sound = await world.accept();
    await world.waitForState(sound, 'delivered', 10_000);
  }
});
