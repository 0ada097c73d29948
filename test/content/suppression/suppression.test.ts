import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ComparableAddress,
  type EmailAddress,
  normalizeAddress,
} from '../../../src/base/values/email-address.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { exportSuppressions } from '../../../src/content/suppression/export-suppressions.ts';
import {
  addSuppressions,
  findSuppressions,
  readSuppressions,
  removeSuppression,
} from '../../../src/content/suppression/suppression-store.ts';
import { suppressBounced } from '../../../src/outcomes/bounce/suppress-bounced-store.ts';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { deleteOldRows } from '../../../src/outcomes/retention/delete-old-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const world = await DeliveryWorld.create();

const address = (text: string): ComparableAddress => text as ComparableAddress;

test('an entry is stored once per reason, with the later end, and removed by reason or completely', async () => {
  const { kysely } = world.database;
  const soon = new Date(Date.now() + 60_000);
  const later = new Date(Date.now() + 120_000);
  const entry = { address: address('once@people.test'), reason: 'manual' as const };
  assert.equal(await addSuppressions(kysely, account, [{ ...entry, expiresAt: later }]), 1);
  assert.equal(await addSuppressions(kysely, account, [{ ...entry, expiresAt: soon }]), 0);
  const [kept] = await readSuppressions(kysely, account, entry.address);
  assert.deepEqual(kept?.expiresAt, later);
  await addSuppressions(kysely, account, [{ ...entry, reason: 'complaint' }]);
  assert.equal(await removeSuppression(kysely, account, entry.address, 'manual'), 1);
  assert.equal(await removeSuppression(kysely, account, entry.address), 1);
  assert.deepEqual(await readSuppressions(kysely, account, entry.address), []);
});

test('entries of one account are neither visible to nor removable by another', async () => {
  const { kysely } = world.database;
  const other = 'a2' as AccountId;
  await world.addAccount(other);
  await addSuppressions(kysely, account, [
    { address: address('mine@people.test'), reason: 'manual' },
  ]);
  assert.deepEqual(await findSuppressions(kysely, other, { limit: 10 }), []);
  assert.equal(await removeSuppression(kysely, other, address('mine@people.test')), 0);
});

test('expired entries are removed', async () => {
  const { kysely } = world.database;
  const ended = address('ended@people.test');
  await addSuppressions(kysely, account, [
    { address: ended, reason: 'manual', expiresAt: new Date(Date.now() - 1_000) },
  ]);
  await deleteOldRows(kysely, 'suppression');
  assert.deepEqual(await readSuppressions(kysely, account, ended), []);
});

test('the export contains every member of an entry and is safe in spreadsheets', async () => {
  const other = 'a3' as AccountId;
  await world.addAccount(other);
  await addSuppressions(world.database.kysely, other, [
    { address: address('=cmd@people.test'), reason: 'complaint' },
    { address: address('b@people.test'), reason: 'unsubscribe', expiresAt: new Date('2031-01-01') },
  ]);
  const csv = (await Array.fromAsync(exportSuppressions(world.database, other))).join('');
  assert.match(csv, /^address,reason,message_id,created_at,expires_at\r\n/);
  assert.match(csv, /\r\n'=cmd@people\.test,complaint,/);
  assert.match(csv, /\r\nb@people\.test,unsubscribe,,[^,]+,2031-01-01T00:00:00\.000Z\r\n/);
});

test('hard bounces and complaints suppress their recipient; soft bounces do not', async () => {
  const feed = new EventFeed({
    database: world.database,
    log: world.log,
    followers: [suppressBounced],
  });
  const hard = await world.accept({ to: 'Gone@people.test', cc: ['cc@people.test'] });
  const soft = await world.accept({ to: 'full@people.test' });
  await addEvent(hard, 'bounced', 0, { cause: 'no-mailbox' });
  await addEvent(hard, 'complained', 1, {});
  await addEvent(soft, 'bounced', 0, { cause: 'mailbox-full' });
  const asleep = await world.accept({ to: 'asleep@people.test' });
  await addEvent(asleep, 'bounced', 0, { cause: 'mailbox-disabled' });
  await feed.catchUp();
  const { kysely } = world.database;
  const [gone] = await readSuppressions(kysely, account, address('gone@people.test'));
  assert.equal(gone?.reason, 'hard_bounce');
  assert.equal(gone?.messageId, hard);
  const [cc] = await readSuppressions(kysely, account, address('cc@people.test'));
  assert.equal(cc?.reason, 'complaint');
  for (const one of ['full@people.test', 'asleep@people.test'])
    assert.deepEqual(await readSuppressions(kysely, account, address(one)), []);
});

test('a hard bounce makes a temporary entry permanent, and takes the place of an expired one', async () => {
  const { database } = world;
  const feed = new EventFeed({ database, log: world.log, followers: [suppressBounced] });
  await feed.catchUp();
  const tomorrow = new Date(Date.now() + 86_400_000);
  const yesterday = new Date(Date.now() - 86_400_000);
  const addresses = ['temporary@people.test', 'expired@people.test'] as const;
  for (const [place, expiresAt] of [tomorrow, yesterday].entries()) {
    const to = address(addresses[place] ?? '');
    await addSuppressions(database.kysely, account, [
      { address: to, reason: 'hard_bounce', expiresAt },
    ]);
    const id = await world.accept({ to });
    await database.pool.query(
      `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
       values ($1, $2, 90, gen_random_uuid(), now(), 'bounced', 0, '{"cause":"no-mailbox"}')`,
      [account, id],
    );
    await feed.catchUp();
    const [entry] = await readSuppressions(database.kysely, account, to);
    assert.equal(entry?.expiresAt ?? undefined, undefined);
    assert.equal(entry?.messageId ?? undefined, place === 0 ? undefined : id);
  }
  await deleteOldRows(database.kysely, 'suppression');
  for (const to of addresses)
    assert.equal((await readSuppressions(database.kysely, account, address(to))).length, 1);
});

test('an entry that replaces an expired one is new', async () => {
  const { kysely } = world.database;
  const entry = { address: address('again@people.test'), reason: 'unsubscribe' as const };
  await addSuppressions(kysely, account, [{ ...entry, expiresAt: new Date(Date.now() - 1_000) }]);
  assert.equal(await addSuppressions(kysely, account, [entry]), 1);
  assert.equal(await addSuppressions(kysely, account, [entry]), 0);
});

test('an event is processed once: an entry removed by a person does not come back', async () => {
  const feed = new EventFeed({
    database: world.database,
    log: world.log,
    followers: [suppressBounced],
  });
  const message = await world.accept({ to: 'back@people.test' });
  await addEvent(message, 'bounced', 0, { cause: 'no-domain' });
  await feed.catchUp();
  const { kysely } = world.database;
  assert.equal(await removeSuppression(kysely, account, address('back@people.test')), 1);
  await feed.catchUp();
  assert.deepEqual(await readSuppressions(kysely, account, address('back@people.test')), []);
});

test('an event of a transaction that commits late is not missed', async () => {
  const feed = new EventFeed({
    database: world.database,
    log: world.log,
    followers: [suppressBounced],
  });
  const late = await world.accept({ to: 'late@people.test' });
  const client = await world.database.pool.connect();
  await client.query('begin');
  await client.query(eventStatement, [account, late, 'bounced', 0, { cause: 'no-mailbox' }]);
  const quick = await world.accept({ to: 'quick@people.test' });
  await addEvent(quick, 'bounced', 0, { cause: 'no-mailbox' });
  await feed.catchUp();
  await client.query('commit');
  client.release();
  await feed.catchUp();
  const { kysely } = world.database;
  assert.equal((await readSuppressions(kysely, account, address('late@people.test'))).length, 1);
  assert.equal((await readSuppressions(kysely, account, address('quick@people.test'))).length, 1);
});

test('a transaction in another database on the same server delays nothing', async () => {
  const feed = new EventFeed({
    database: world.database,
    log: world.log,
    followers: [suppressBounced],
  });
  const elsewhere = await createTestDatabase();
  const client = await elsewhere.database.pool.connect();
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  const message = await world.accept({ to: 'free@people.test' });
  await addEvent(message, 'bounced', 0, { cause: 'no-mailbox' });
  await feed.catchUp();
  await client.query('rollback');
  client.release();
  const found = await readSuppressions(world.database.kysely, account, address('free@people.test'));
  assert.equal(found.length, 1);
});

const eventStatement = `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
  values ($1, $2, 90, gen_random_uuid(), now(), $3, $4, $5)`;

async function addEvent(
  messageId: string,
  kind: string,
  recipient: number,
  detail: Record<string, unknown>,
): Promise<void> {
  await world.database.pool.query(eventStatement, [account, messageId, kind, recipient, detail]);
}

test('addresses are compared alike in the service and the database, with a final sigma and a dotted I too', async () => {
  const { database } = world;
  const feed = new EventFeed({ database, log: world.log, followers: [suppressBounced] });
  for (const local of ['ΓΙΩΡΓΟΣ', 'İSTANBUL', 'ÉCOLE', 'γιώργος', 'STRAẞE', 'ДОМ', 'Ann']) {
    const to = `${local}@people.test` as EmailAddress;
    const id = await world.accept({ to });
    await database.pool.query(
      `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
       values ($1, $2, 90, gen_random_uuid(), now(), 'bounced', 0, '{"cause":"no-mailbox"}')`,
      [account, id],
    );
    await feed.catchUp();
    const found = await readSuppressions(database.kysely, account, normalizeAddress(to));
    assert.equal(found.length, 1, local);
  }
});
