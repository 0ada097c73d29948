import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type MessageId, newMessageId } from '../../../src/base/values/ids.ts';
import { ClaimStore, rescheduleAfterClockStep } from '../../../src/sending/queue/claim-store.ts';
import { QueueControlStore } from '../../../src/sending/queue/control-store.ts';
import { AcceptStore } from '../../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../support/accept-row.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
const { clock, database } = world;
const { pool } = database;
const store = new AcceptStore(database.settings, 1);
after(() => store.close());
const minute = 60_000;
const hour = 60 * minute;
afterEach(async () => {
  await world.close();
  await pool.query('delete from queued_delivery');
  await clock.reset();
});

const inMs = (ms: number): Date => new Date(clock.now() + ms);

async function accept(
  timing: { readonly sendAt?: Date; readonly deliverBefore?: Date } = {},
  transactional = false,
): Promise<MessageId> {
  const id = newMessageId();
  const row = makeAcceptRow({
    accountId: account,
    id,
    transactional,
    lifetimeSeconds: 48 * 3_600,
    retentionDays: timing.sendAt === undefined ? 90 : 10_090,
    templateId: 't1' as never,
    timing: { sendAt: timing.sendAt, deliverBefore: timing.deliverBefore },
  });
  const [outcome] = await store.insert([row]);
  assert.equal(outcome?.kind, 'accepted');
  return id;
}

const claim = async (max: number): Promise<MessageId[]> =>
  (await world.stores().claims.claim([account], max)).map(({ messageId }) => messageId);

const dueIn = async (id: MessageId): Promise<number> => {
  const { rows } = await pool.query(
    'select extract(epoch from due_at)::float8 - extract(epoch from now())::float8 as seconds from queued_delivery where message_id = $1',
    [id],
  );
  return rows[0].seconds;
};

test('messages near their deadline are claimed first, the nearest before the others', async () => {
  const old = await accept();
  const urgent = await accept({}, true);
  const far = await accept({ deliverBefore: inMs(hour) });
  const near = await accept({ deliverBefore: inMs(10 * minute) });
  const nearest = await accept({ deliverBefore: inMs(5 * minute) });
  assert.deepEqual(await claim(1), [nearest]);
  assert.deepEqual(await claim(1), [near]);
  assert.deepEqual(await claim(1), [urgent]);
  assert.deepEqual(new Set(await claim(4)), new Set([old, far]));
});

test('claims after a poll without near deadlines prefer them again from the next poll on', async () => {
  const claims = new ClaimStore(database, 30_000, minute);
  const claimOne = async () => (await claims.claim([account], 1)).map(({ messageId }) => messageId);
  const [first, second] = [await accept(), await accept()];
  assert.deepEqual(await claims.findDueAccounts(), [account]);
  await accept({ deliverBefore: inMs(hour) });
  const near = await accept({ deliverBefore: inMs(5 * minute) });
  assert.deepEqual(await claimOne(), [first]);
  assert.deepEqual(await claims.findDueAccounts(), [account]);
  assert.deepEqual(await claimOne(), [near]);
  assert.deepEqual(await claimOne(), [second]);
});

test('claims long after a poll don’t rely on what it found', async () => {
  const claims = new ClaimStore(database, 30_000, 0);
  await accept();
  await claims.findDueAccounts();
  const near = await accept({ deliverBefore: inMs(5 * minute) });
  const [claimed] = await claims.claim([account], 1);
  assert.equal(claimed?.messageId, near);
});

test('a claim that finds messages near their deadline still fills up with others', async () => {
  for (let n = 0; n < 6; n += 1) await accept(n % 2 === 0 ? { deliverBefore: inMs(minute) } : {});
  assert.equal((await claim(4)).length, 4);
  assert.equal((await claim(4)).length, 2);
});

test('a scheduled message isn’t claimed early, and its account isn’t due', async () => {
  const id = await accept({ sendAt: inMs(hour) });
  const { claims } = world.stores();
  assert.deepEqual(await claims.findDueAccounts(), []);
  assert.deepEqual(await claim(1), []);
  await clock.advance(hour + minute);
  assert.deepEqual(await claims.findDueAccounts(), [account]);
  assert.deepEqual(await claim(1), [id]);
});

test('a database clock that steps back doesn’t send a scheduled message early', async () => {
  const id = await accept({ sendAt: inMs(5 * hour) });
  await clock.advance(-3 * hour);
  await rescheduleAfterClockStep(database, 30_000);
  assert.ok((await dueIn(id)) > 7.9 * 3_600);
});

test('neither retrying nor resuming sends a scheduled message early', async () => {
  const id = await accept({ sendAt: inMs(hour) });
  const controls = new QueueControlStore(database);
  const one = { accountId: account, messageId: id };
  assert.deepEqual(await controls.control('retry', { accountId: account }), {
    changed: 0,
    busy: 0,
  });
  assert.equal((await controls.control('pause', one)).changed, 1);
  assert.equal(await dueIn(id), Number.POSITIVE_INFINITY);
  assert.equal((await controls.control('retry', one)).changed, 0);
  assert.equal((await controls.control('resume', one)).changed, 1);
  assert.ok(Math.abs((await dueIn(id)) - 3_600) < 60);
  assert.equal((await controls.control('cancel', one)).changed, 1);
  assert.ok((await dueIn(id)) <= 0);
});

test('a message stored twice because its outcome was unknown is scheduled once', async () => {
  const row = makeAcceptRow({
    accountId: account,
    retentionDays: 10_030,
    timing: { sendAt: inMs(hour), deliverBefore: undefined },
  });
  await store.insert([row], true);
  await store.insert([row], true);
  const { rowCount } = await pool.query('select from scheduled_message where message_id = $1', [
    row.id,
  ]);
  assert.equal(rowCount, 1);
  assert.equal((await pool.query('select from queued_delivery')).rowCount, 1);
});

test('a message whose deadline passes while it is being sent isn’t handed over', async () => {
  const atRecipient = Promise.withResolvers<void>();
  const resume = Promise.withResolvers<void>();
  const sink = await startSink({
    options: {
      async onRcptTo(_address, _session, callback) {
        atRecipient.resolve();
        await resume.promise;
        callback();
      },
    },
  });
  const id = await world.accept();
  await pool.query(
    `update queued_delivery set deliver_before = now() + interval '2 seconds', expires_at = now() + interval '2 seconds'`,
  );
  world.deliverTo(sink.port, { worker: { leaseMs: 1_500 } });
  await atRecipient.promise;
  await waitFor('the deadline', async () => {
    const { rows } = await pool.query('select deliver_before < now() as past from queued_delivery');
    return rows[0]?.past === true;
  });
  resume.resolve();
  await world.waitForState(id, 'expired');
  await world.close();
  assert.equal(sink.mails.length, 0);
});
