import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { apply, changed } from '../../support/manifest-world.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const folder = temporaryFolder();

function applyCsv(csv: string | undefined, prune = false) {
  if (csv !== undefined) writeFileSync(join(folder, 'people.csv'), csv);
  const list = { id: 'l-1', name: 'People', ...(csv === undefined ? {} : { csv: 'people.csv' }) };
  const manifest = { accounts: [{ id: 'shop', name: 'Shop', lists: [list] }] };
  return apply(database, manifest, { folder, prune });
}

async function contacts(): Promise<Record<string, unknown>> {
  const { rows } = await database.pool.query('select email, fields from contact order by email');
  return Object.fromEntries(rows.map(({ email, fields }) => [email, fields]));
}

async function size(): Promise<number> {
  const { rows } = await database.pool.query('select source_size from contact_list');
  return rows[0].source_size;
}

test('contacts of a file are created with their columns', async () => {
  assert.deepEqual(changed(await applyCsv('email,City\nada@shop.test,London\nalan@shop.test,\n')), [
    'created account shop',
    'created list l-1',
  ]);
  assert.deepEqual(await contacts(), {
    'ada@shop.test': { City: 'London' },
    'alan@shop.test': {},
  });
  assert.equal(await size(), 2);
});

test('the same file changes nothing, and no file leaves the contacts alone', async () => {
  const { rows: before } = await database.pool.query('select modified_at from contact_list');
  assert.deepEqual(
    changed(await applyCsv('email,City\r\nada@shop.test,London\r\nalan@shop.test,\r\n')),
    [],
  );
  assert.deepEqual(changed(await applyCsv(undefined)), []);
  assert.equal(await size(), 2);
  const { rows: after } = await database.pool.query('select modified_at from contact_list');
  assert.deepEqual(after, before);
});

test('without --prune, contacts missing from the file stay', async () => {
  assert.deepEqual(changed(await applyCsv('email,City\nada@shop.test,Paris\ngrace@shop.test,\n')), [
    'changed list l-1',
  ]);
  assert.deepEqual(Object.keys(await contacts()), [
    'ada@shop.test',
    'alan@shop.test',
    'grace@shop.test',
  ]);
  assert.deepEqual((await contacts())['ada@shop.test'], { City: 'Paris' });
  assert.equal(await size(), 3);
});

test('with --prune they are removed, even if the file is unchanged', async () => {
  const csv = 'email,City\nada@shop.test,Paris\ngrace@shop.test,\n';
  assert.deepEqual(changed(await applyCsv(csv)), []);
  assert.deepEqual(changed(await applyCsv(csv, true)), ['changed list l-1']);
  assert.deepEqual(Object.keys(await contacts()), ['ada@shop.test', 'grace@shop.test']);
  assert.equal(await size(), 2);
  assert.deepEqual(changed(await applyCsv(csv, true)), []);
});

test('a file whose rows all exist changes nothing, whatever was written last', async () => {
  assert.deepEqual(changed(await applyCsv('email,City\nada@shop.test,Paris\n')), []);
  assert.deepEqual(changed(await applyCsv('email,City\nada@shop.test,\n')), ['changed list l-1']);
  assert.deepEqual((await contacts())['ada@shop.test'], {});
});

test('a list with many thousands of rows is written completely', async () => {
  const rows = Array.from({ length: 12_345 }, (_, index) => `p${index}@shop.test,City ${index}`);
  await applyCsv(`email,City\n${rows.join('\n')}\n`, true);
  assert.equal(await size(), 12_345);
});
