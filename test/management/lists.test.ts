import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { lockAccount } from '../../src/change/change-lock-store.ts';
import { readContacts } from '../../src/manifest/read-contacts.ts';
import {
  type ManagementClient,
  openManagedShop,
  signInToManagement,
} from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, roles: ['http'] });
const { shop, owner, path } = await openManagedShop(database, service);
const list = `${path}/lists/l-0001`;
await owner.put(list, { name: 'Customers' });

const csv = { 'content-type': 'text/csv' };

async function finish(client: ManagementClient, address: string): Promise<Record<string, unknown>> {
  return waitFor('the import to end', async () => {
    const { body } = await client.get(address);
    return body.state !== 'running' && { ...body };
  });
}

test('a file is imported with progress and row errors, and exported again', async () => {
  const rows = Array.from(
    { length: 5_000 },
    (_, n) => `p${n}@people.test,Person ${n},"a ""b"", c"`,
  );
  const text = ['Email,Name,Note', ...rows, 'nobody,x,y', 'Two@people.test,only two'].join('\r\n');
  const address = `${list}/imports/${randomUUID()}`;
  const began = await owner.call('PUT', address, text, csv);
  assert.equal(began.status, 202, began.text);
  const done = await finish(owner, address);
  assert.equal(done.state, 'done');
  assert.equal(done.rowsRead, 5_002);
  assert.equal(done.rowsWritten, 5_000);
  assert.equal(done.rowsWrong, 2);
  assert.deepEqual(
    (done.problems as { line: number }[]).map(({ line }) => line),
    [5_002, 5_003],
  );
  assert.equal((await owner.get(list)).body.size, 5_000);
  const page = await owner.get(`${list}/contacts?startsWith=P4999@&limit=1`);
  assert.deepEqual((page.body.items as { fields: unknown }[])[0]?.fields, {
    Name: 'Person 4999',
    Note: 'a "b", c',
  });
  const exported = await owner.get(`${list}/export`);
  assert.equal(exported.text.split('\r\n').length, 5_002);
  assert.match(exported.text, /^email,Name,Note\r\np0@people\.test,Person 0,"a ""b"", c"\r\n/);
  const again = await owner.call('PUT', address, text, csv);
  assert.equal(again.status, 202);
  const imports = await owner.get(`${list}/imports`);
  assert.equal((imports.body.items as unknown[]).length, 1, 'the same id imports once');
});

test('an invalid contacts file fails with a reason', async () => {
  for (const [text, reason] of [
    ['name\nx', 'The email column is missing'],
    ['', 'The file has no header row'],
    ['email,Email\na@b.test,c', 'Two columns have the same name'],
    ['email\n"a', /isn’t valid CSV/],
  ] as const) {
    const address = `${list}/imports/${randomUUID()}`;
    const began = await owner.call('PUT', address, text, csv);
    assert.equal(began.status, 202, began.text);
    const done = await finish(owner, address);
    assert.equal(done.state, 'failed');
    const [problem] = done.problems as { reason: string }[];
    if (typeof reason === 'string') assert.equal(problem?.reason, reason);
    else assert.match(String(problem?.reason), reason);
  }
  const json = await owner.put(`${list}/imports/${randomUUID()}`, { email: 'a@b.test' });
  assert.equal(json.status, 415);
  const nowhere = await owner.call(
    'PUT',
    `${path}/lists/none/imports/${randomUUID()}`,
    'email',
    csv,
  );
  assert.equal(nowhere.status, 404);
});

test('contacts are created, paged and deleted', async () => {
  const contact = `${list}/contacts/Zoe@people.test`;
  const made = await owner.put(contact, { fields: { Name: 'Zoe' } });
  assert.equal(made.status, 201, made.text);
  assert.equal((await owner.get(list)).body.size, 5_001);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await owner.get(`${list}/contacts?limit=500${cursor}`);
    seen.push(...(body.items as { email: string }[]).map(({ email }) => email));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  assert.equal(new Set(seen).size, 5_001);
  assert.equal((await owner.delete(contact)).status, 204);
  assert.equal((await owner.get(contact)).status, 404);
});

test('an import interrupted by shutdown is marked as failed before the node stops', async () => {
  const other = `${path}/lists/l-0900`;
  await owner.put(other, { name: 'Many' });
  const node = await startTestService({ databaseUrl: url, roles: ['http'] });
  const there = await signInToManagement(node, shop.owner.email);
  const rows = Array.from({ length: 200_000 }, (_, n) => `q${n}@people.test`);
  const address = `${other}/imports/${randomUUID()}`;
  await there.call('PUT', address, ['email', ...rows].join('\n'), csv);
  await waitFor(
    'its first rows',
    async () => Number((await owner.get(address)).body.rowsWritten) > 0,
  );
  await node.stop();
  const { body } = await owner.get(address);
  assert.equal(body.state, 'failed');
  assert.ok(Number(body.rowsRead) < rows.length, `${body.rowsRead} rows were read`);
  assert.deepEqual(body.problems, [
    {
      line: 0,
      reason: 'The service stopped before the import finished. Upload the file again with a new ID',
    },
  ]);
});

test('the largest allowed contact survives export and import', async () => {
  const small = `${path}/lists/l-0002`;
  await owner.put(small, { name: 'Largest' });
  const fields = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`f${at}`.padEnd(200, 'x'), 'v']),
  );
  fields['f0'.padEnd(200, 'x')] = 'v'.repeat(10_000);
  const made = await owner.put(`${small}/contacts/zoe@people.test`, { fields });
  assert.equal(made.status, 201, made.text);
  const { text } = await owner.get(`${small}/export`);
  const address = `${small}/imports/${randomUUID()}`;
  assert.equal((await owner.call('PUT', address, text, csv)).status, 202);
  const done = await finish(owner, address);
  assert.equal(done.state, 'done', JSON.stringify(done));
  assert.equal(done.rowsWritten, 1);
  assert.equal(readContacts(text, assert.fail)?.rows.length, 1);
});

test('a contact put while its list is removed gets a 404, not an internal error', async () => {
  const removedList = `${path}/lists/l-0003`;
  await owner.put(removedList, { name: 'Doomed' });
  const answer = await database.kysely.transaction().execute(async (transaction) => {
    await lockAccount(transaction, shop.id);
    const put = owner.put(`${removedList}/contacts/zoe@people.test`, { fields: {} });
    await waitForLock(database);
    await sql`
      delete from contact_list where account_id = ${shop.id} and id = 'l-0003'`.execute(
      transaction,
    );
    return { put };
  });
  const { status, text } = await answer.put;
  assert.equal(status, 404, text);
});
