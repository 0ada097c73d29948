import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { syncIdClock } from '../../../src/base/database/database-time-store.ts';
import { newId } from '../../../src/base/values/ids.ts';
import { minIdAt, timeOfId } from '../../../src/base/values/uuid7.ts';
import { deleteOldData } from '../../../src/outcomes/retention/delete-old-data.ts';
import { logIntoLines } from '../../support/log-into-lines.ts';
import { SendClient } from '../../support/send-client.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const day = 86_400_000;
const { now } = Date;
after(() => {
  Date.now = now;
});
/** Sets the clock of this process; the database's clock stays correct. */
function setClock(days: number): void {
  Date.now = () => now() + days * day;
}

const { database, url, clock } = await createTestDatabase();
const shop = await openShop(database);
setClock(-100);
const service = await startTestService({ databaseUrl: url, worker: false });
const client = new SendClient(service, await getToken(service, shop));

async function accept(): Promise<string> {
  return client.accept();
}

async function runRetention(): Promise<void> {
  const { log } = logIntoLines('error');
  await deleteOldData(database, log);
}

/** The number of message rows and queue entries of a message. */
async function rowsOf(id: string): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select (select count(*)::int from message where id = $1) as messages,
       (select count(*)::int from queue_entry where message_id = $1) as entries`,
    [id],
  );
  return rows[0];
}

const bothExist = { messages: 1, entries: 1 };

test('a node with a wrong clock creates message ids with the database’s time', async () => {
  const id = await accept();
  assert.ok(Math.abs(timeOfId(id).getTime() - now()) < 60_000);
  setClock(0);
  await runRetention();
  assert.deepEqual(await rowsOf(id), bothExist);
});

test('a message with an id that is too old is not deleted unless the message itself is old', async () => {
  const id = await accept();
  const old = `${minIdAt(new Date(now() - 100 * day)).slice(0, 14)}7000-8000-000000000001`;
  for (const [table, column] of [
    ['message', 'id'],
    ['queue_entry', 'message_id'],
  ])
    await database.pool.query(`update ${table} set ${column} = $2 where ${column} = $1`, [id, old]);
  await database.pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'deferred', '{}' from message where id = $1`,
    [old],
  );
  await runRetention();
  assert.deepEqual(await rowsOf(old), bothExist);
  const events = async () =>
    (await database.pool.query('select from message_event where message_id = $1', [old])).rowCount;
  assert.equal(await events(), 1);
  await database.pool.query(
    "update message set accepted_at = now() - interval '95 days' where id = $1",
    [old],
  );
  await runRetention();
  assert.deepEqual(await rowsOf(old), { messages: 0, entries: 0 });
  assert.equal(await events(), 0);
});

test('a node with a fast clock deletes nothing that is new', async () => {
  const id = await accept();
  setClock(200);
  await runRetention();
  setClock(0);
  assert.deepEqual(await rowsOf(id), bothExist);
});

test('IDs of a process have the time of its database’s machine while a test moves its own', async () => {
  setClock(0);
  const { log } = logIntoLines('error');
  await clock.advance(4 * day);
  await syncIdClock(database.pool, log);
  await clock.reset();
  assert.ok(Math.abs(timeOfId(newId()).getTime() - now()) < 60_000);
});
