import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId, ListId } from '../../../src/base/values/ids.ts';
import { removeContact, writeContacts } from '../../../src/content/list/contact-store.ts';
import { saveContacts, saveList } from '../../../src/content/list/list-store.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database } = await createTestDatabase();
const { kysely, pool } = database;
const accountId = 'shop' as AccountId;
const listId = 'l-1' as ListId;
const named = { accountId, id: listId };
const contentHash = Buffer.alloc(32);

await saveShop(database, { id: accountId });
await saveList(kysely, { ...named, name: 'People', folderName: '', description: '' });

function contact(email: string) {
  return { email, fields: {} };
}

async function facts(): Promise<{ size: number; contacts: number; hash: Buffer | null }> {
  const { rows } = await pool.query(
    `select source_size as size, content_hash as hash,
       (select count(*)::int from contact where account_id = $1 and list_id = $2) as contacts
     from contact_list where account_id = $1 and id = $2`,
    [accountId, listId],
  );
  return rows[0];
}

test('an interrupted import leaves a list with correct size and content', async () => {
  const whole = { rows: [contact('ada@shop.test')], contentHash };
  await kysely.transaction().execute((t) => saveContacts(t, named, whole, true));
  assert.deepEqual(await facts(), { size: 1, contacts: 1, hash: contentHash });
  const list = { accountId, listId };
  const more = [contact('ada@shop.test'), contact('alan@shop.test')];
  await kysely.transaction().execute((t) => writeContacts(t, list, more));
  assert.deepEqual(await facts(), { size: 2, contacts: 2, hash: null });
  await kysely.transaction().execute((t) => removeContact(t, list, 'ada@shop.test'));
  assert.deepEqual(await facts(), { size: 1, contacts: 1, hash: null });
});

test('two concurrent imports leave the correct size', async () => {
  const list = { accountId, listId };
  const rows = [contact('cleo@shop.test'), contact('dora@shop.test')];
  for (const [first, second] of [
    ['bea@shop.test', 'whole'],
    ['whole', 'eva@shop.test'],
  ]) {
    const write = (what: string | undefined) => (t: typeof kysely) =>
      what === 'whole'
        ? saveContacts(t, named, { rows, contentHash }, false)
        : writeContacts(t, list, [contact(what ?? '')]);
    const waiting = await kysely.transaction().execute(async (transaction) => {
      await write(first)(transaction);
      const other = kysely.transaction().execute(write(second));
      await waitForLock(database);
      return { other };
    });
    await waiting.other;
    const { size, contacts } = await facts();
    assert.equal(size, contacts, `${first}, then ${second}`);
  }
});
