import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { runInProcess } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const folder = temporaryFolder();
const { url, database } = await createTestDatabase();
const environment = { DATABASE_URL: url, DATA_DIR: temporaryFolder() };

function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return runInProcess(args, { ...environment, ...more });
}

writeFileSync(
  join(folder, 'people.csv'),
  'email,Note,Name\nbob@people.test,,Bob\nann@people.test,"=1+1, ""quoted""",Ann\n',
);
const logo = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
writeFileSync(join(folder, 'logo.png'), logo);
writeFileSync(
  join(folder, 'shop.yaml'),
  `
accounts:
  - id: shop
    name: Shop
    addOns: [transactional]
    retentionDays: 400
    users:
      - { email: ann@shop.test, name: Ann, password: a very long password, role: owner }
    senders:
      - { address: orders@shop.test, displayNames: [Shop, "*"], verified: true }
    integrations:
      - { clientId: app, clientSecret: "0123456789012345678901234567", name: App, grants: [password] }
    templates:
      - id: t-1
        name: One
        createdBy: ann@shop.test
        sender: orders@shop.test
        subject: "Costs $\${5} for {{Name}}"
        html: "<p>{{Name}}</p><img src='cid:logo' alt=''>"
        images:
          - { contentId: logo, content: { file: logo.png } }
        fields: { Name: { sample: Ann, secret: true } }
        freshnessMinutes: 30
    lists:
      - { id: l-1, name: People, folderName: All, csv: people.csv }
`,
);

test('exporting and applying again changes nothing', async () => {
  const applied = await run(['apply', join(folder, 'shop.yaml')]);
  assert.equal(applied.code, 0, applied.err);
  const target = join(folder, 'export');
  const exported = await run(['export', target]);
  assert.equal(exported.code, 0, exported.err);
  const again = await run(['apply', join(target, 'manifest.yaml'), '--prune']);
  assert.match(again.out, /^Done: 0 created, 0 changed, 6 unchanged, 0 removed\.$/m, again.out);
  assert.equal(
    readFileSync(join(target, 'lists/shop-l-1.csv'), 'utf8'),
    `email,Name,Note\r\nann@people.test,Ann,"'=1+1, ""quoted"""\r\nbob@people.test,Bob,\r\n`,
  );
});

test('images of templates are files of an exported folder, and base64 on standard output', async () => {
  assert.deepEqual(readFileSync(join(folder, 'export/images/shop-t-1-1.png')), logo);
  const { out } = await run(['export']);
  const { accounts } = parseYaml(out) as { accounts: { templates: { images: object[] }[] }[] };
  assert.deepEqual(accounts[0]?.templates[0]?.images, [
    {
      contentId: 'logo',
      filename: 'logo.png',
      contentType: 'image/png',
      content: logo.toString('base64'),
    },
  ]);
  writeFileSync(join(folder, 'inline.yaml'), out);
  const again = await run(['apply', join(folder, 'inline.yaml')]);
  assert.match(again.out, /^Done: 0 created, 0 changed, /m, again.out);
});

test('contacts from other sources are not a change, nor is a missing value that comes back empty', async () => {
  await database.pool.query(
    `insert into contact_list (account_id, id, name, source_size) values ('shop', 'l-2', 'Imported', 2);
     insert into contact (account_id, list_id, email, fields) values
       ('shop', 'l-2', 'cid@people.test', '{"N": "1"}'), ('shop', 'l-2', 'dan@people.test', '{}')`,
  );
  const target = join(folder, 'imported');
  await run(['export', target]);
  const manifest = join(target, 'manifest.yaml');
  const dry = await run(['apply', manifest, '--dry-run', '--prune']);
  assert.match(dry.out, /0 created, 0 changed, 7 unchanged, 0 removed/, dry.out);
  writeFileSync(
    join(target, 'lists/shop-l-2.csv'),
    'email,N\ncid@people.test,2\ndan@people.test,\n',
  );
  assert.match((await run(['apply', manifest])).out, /^changed +list +shop l-2 /m);
  const { rows } = await database.pool.query(
    "select fields from contact where list_id = 'l-2' order by email",
  );
  assert.deepEqual(rows, [{ fields: { N: '2' } }, { fields: {} }]);
});

test('a template without a published version is skipped and named', async () => {
  await database.pool.query(
    `insert into template (account_id, id, name, created_by) select 'shop', 't-draft', 'Draft', id from person limit 1`,
  );
  const { out, err } = await run(['export']);
  assert.doesNotMatch(out, /t-draft/);
  assert.equal(err, 'Skipped: template t-draft of account shop has no published version.\n');
});

test("changes during an export don't appear in any part of it", async () => {
  const target = join(folder, 'moment');
  const writer = await database.pool.connect();
  await writer.query('begin');
  await writer.query('lock table contact in access exclusive mode');
  const exporting = run(['export', target]);
  await waitForLock(database);
  await writer.query("delete from contact where email = 'ann@people.test'");
  await writer.query('commit');
  writer.release();
  const { code, err } = await exporting;
  assert.equal(code, 0, err);
  assert.match(readFileSync(join(target, 'lists/shop-l-1.csv'), 'utf8'), /ann@people\.test/);
});

test('standard output has everything except contacts and secrets', async () => {
  const { out } = await run(['export']);
  assert.match(out, /id: t-1/);
  assert.doesNotMatch(out, /0123456789|a very long password|csv:/);
});

test("another installation asks for the secrets that it doesn't have", async () => {
  const other = await createTestDatabase();
  const { code, err } = await run(['apply', join(folder, 'export/manifest.yaml')], {
    DATABASE_URL: other.url,
    DATA_DIR: temporaryFolder(),
  });
  assert.equal(code, 1);
  assert.match(err, /integrations\[0\]\.clientSecret is required/);
});
