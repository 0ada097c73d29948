import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { addKey } from '../../test/support/api-key.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { signInToManagement } from '../../test/support/management-client.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { openOwnDatabase } from '../../test/support/own-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { installTools } from '../support/tools.ts';

/** The programs of docs/outbox-examples.md, with the libraries that they are for. */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const page = 'docs/outbox-examples.md';
const blocks = codeBlocks(root, page);
const folderOf = await installTools();
const names = ['@prisma/adapter-pg', '@prisma/client', 'drizzle-orm', 'knex', 'pg', '@types/pg'];
const app = await createClientApp(Object.fromEntries(names.map((name) => [name, folderOf(name)])));
const shop = await FeedbackShop.open({ OUTBOX_NETWORKS: '127.0.0.0/8' });
await shop.publish('receipt', '<p>{{Order Number}}</p>');
const owner = await signInToManagement(shop.service, shop.shop.owner.email);
const own = await openOwnDatabase();
const env = {
  PATH: process.env.PATH,
  HOME: app.folder,
  CHECKPOINT_DISABLE: '1',
  DATABASE_URL: own.url,
  // Prisma downloads the program that migrates a schema, unless it has one; nothing here uses it.
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
};
const examples = ['pg', 'prisma', 'drizzle', 'knex'] as const;
const [createOrders, insertRow] = blocks.filter(({ language }) => language === 'sql');

before(async () => {
  await own.pool.query(
    outboxSchemaSql({ dialect: 'postgres', table: 'email_outbox', answers: null }),
  );
  await own.pool.query(createOrders?.text ?? '');
  // The order of a number that is taken fails at the commit, after the email was inserted.
  await own.pool.query(
    'alter table orders drop constraint orders_pkey, add primary key (number) deferrable initially deferred',
  );
  const saved = await owner.put(`/accounts/${shop.shop.id}/outbox-sources/orders`, {
    table: 'email_outbox',
    url: own.url,
  });
  assert.equal(saved.status, 201, saved.text);
  const files = { schema: 'schema.prisma', python: 'shop.py' } as Readonly<Record<string, string>>;
  for (const { above, text } of blocks) {
    const [, name] = /^<!-- run in test-long: (\w+) -->$/.exec(above) ?? [];
    if (name !== undefined)
      await writeFile(join(app.folder, files[name] ?? `${name}-shop.ts`), text);
  }
  const prisma = join(folderOf('prisma'), 'build/index.js');
  await run(process.execPath, [prisma, 'generate', '--schema', 'schema.prisma'], {
    cwd: app.folder,
    env,
  });
});

/** Places an order. @returns what the program says if it fails */
async function place(program: string, args: readonly string[]): Promise<string> {
  return run(program, args, { cwd: app.folder, env }).then(
    () => '',
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
}

/** What became of the rows of a recipient, once each has an answer. */
async function answersTo(address: string) {
  return waitFor(`the answer to ${address}`, async () => {
    const { rows } = await own.pool.query<{ status: string | null; message_id: string }>(
      'select status, message_id from email_outbox where to_address = $1',
      [address],
    );
    return rows.length > 0 && rows.every(({ status }) => status !== null) ? rows : undefined;
  });
}

async function requireOneEmail(
  name: string,
  order: (number: string, email: string) => Promise<string>,
): Promise<void> {
  const to = `${name}@people.test`;
  assert.equal(await order(name, to), '');
  assert.match(await order(name, `${name}-again@people.test`), /duplicate key|unique ?constraint/i);
  const [row, ...others] = await answersTo(to);
  assert.deepEqual([row?.status, others], ['accepted', []]);
  await waitFor(
    'the delivery',
    async () => (await shop.state(row?.message_id ?? '')) === 'delivered',
  );
  const { rows } = await own.pool.query('select from email_outbox where to_address like $1', [
    `${name}-again@%`,
  ]);
  assert.equal(rows.length, 0);
}

test('the examples compile under strict with the types of the templates, which name what is wrong', async () => {
  const key = await addKey(shop.database, shop.shop.id, { scopes: ['templates:read'] });
  const bin = join(app.folder, 'node_modules/signalpost-client/dist/types/main.js');
  const types = 'signalpost-templates.d.ts';
  await run(process.execPath, [bin, 'types', '--url', shop.service.url, '--out', types], {
    cwd: app.folder,
    env: { ...env, SIGNALPOST_API_KEY: key },
  });
  const options = ['--module', 'nodenext', '--types', 'node', '--skipLibCheck', '--noUnusedLocals'];
  const all = ['--allowImportingTsExtensions', ...options];
  const files = [types, ...examples.map((name) => `${name}-shop.ts`)];
  assert.equal(await app.compile(files, ...all), '');
  for (const name of examples) {
    const text = blocks.find(({ above }) => above.includes(`: ${name} `))?.text ?? '';
    await writeFile(join(app.folder, `wrong-${name}.ts`), text.replace("'Order Number'", 'Order'));
    assert.match(await app.compile([types, `wrong-${name}.ts`], ...all), /'Order Number'/);
  }
});

for (const name of examples)
  test(`${name}: an order and its email are one commit`, async () => {
    const program = `const { placeOrder } = await import('./${name}-shop.ts');
await placeOrder(...process.argv.slice(1)).catch(({ message, cause }) => {
  console.error(message, cause?.message);
  process.exit(1);
});
process.exit();`;
    await requireOneEmail(name, (...order) =>
      place(process.execPath, ['--input-type=module', '--eval', program, ...order]),
    );
  });

test('python: an order and its email are one commit', async () => {
  // Debian's, which has its package python3-psycopg2.
  const program = 'import sys, shop; shop.place_order(*sys.argv[1:])';
  await requireOneEmail('python', (...order) =>
    place('/usr/bin/python3', ['-c', program, ...order]),
  );
});

test('SQL: an order and its email are one commit', async () => {
  const sql = insertRow?.text ?? '';
  await own.pool.query(sql);
  await assert.rejects(own.pool.query(sql), /duplicate key/);
  const [row, ...others] = await answersTo('ada@customer.example');
  assert.deepEqual([row?.status, others], ['accepted', []]);
  const { body } = await owner.get(`/accounts/${shop.shop.id}/scheduled-messages`);
  const items = body.items as { messageId: string; sendAt: string }[];
  const sendAt = items.find(({ messageId }) => messageId === row?.message_id)?.sendAt ?? '';
  const inMinutes = (Date.parse(sendAt) - Date.now()) / 60_000;
  assert.ok(inMinutes > 50 && inMinutes <= 60, sendAt);
});
