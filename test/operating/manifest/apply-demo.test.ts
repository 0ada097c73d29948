import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { OperatorError } from '../../../src/base/values/errors.ts';
import { compileTemplate } from '../../../src/content/template/template-compiler.ts';
import { applyDemo } from '../../../src/operating/manifest/apply-demo.ts';
import { applyManifest } from '../../../src/operating/manifest/apply-manifest.ts';
import { readManifestFile } from '../../../src/operating/manifest/manifest-files.ts';
import { parseManifest } from '../../../src/operating/manifest/parse-manifest.ts';
import { changed } from '../../support/manifest-world.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { testKey } from '../../support/test-service.ts';

const demoFile = join(import.meta.dirname, '../../../demo/manifest.yaml');

function envOf(dataDir: string): Record<string, string> {
  return parseEnv(readFileSync(join(dataDir, 'demo.env'), 'utf8')) as Record<string, string>;
}

test('the first start creates secrets with owner-only access and applies the demo; the second changes nothing', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  const parts = { database, key: testKey, dataDir };
  assert.equal(await applyDemo(parts), true);
  const environment = envOf(dataDir);
  assert.equal(statSync(join(dataDir, 'demo.env')).mode & 0o777, 0o600);
  assert.ok((environment.DEMO_CLIENT_SECRET ?? '').length >= 24);
  const { rows } = await database.pool.query(
    `select (select count(*)::int from template where account_id = '1000') as templates,
       (select count(*)::int from contact where account_id = '1000') as contacts`,
  );
  assert.deepEqual(rows, [{ templates: 3, contacts: 8 }]);

  await database.pool.query("update template set name = 'Mine' where id = 'receipt'");
  assert.equal(await applyDemo(parts), true);
  assert.deepEqual(envOf(dataDir), environment);
  const { rows: kept } = await database.pool.query(
    "select name from template where id = 'receipt'",
  );
  assert.deepEqual(kept, [{ name: 'Mine' }]);
});

test('a start interrupted after writing the secrets is completed by the next one with the same secrets', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  const broken = { database, key: testKey, dataDir };
  await database.pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'died'; end $$;
     create trigger refuse before update on installation execute function refuse()`,
  );
  await assert.rejects(applyDemo(broken), /died/);
  const environment = envOf(dataDir);
  const { rows } = await database.pool.query(
    'select count(*)::int as count from account where not system',
  );
  assert.deepEqual(rows, [{ count: 0 }]);
  await database.pool.query('drop trigger refuse on installation');
  assert.equal(await applyDemo(broken), true);
  assert.deepEqual(envOf(dataDir), environment);
});

test('two nodes that start concurrently apply the demo once', async () => {
  const { database } = await createTestDatabase();
  const [one, two] = [temporaryFolder(), temporaryFolder()];
  const nodes = [one, two].map((dataDir) => applyDemo({ database, key: testKey, dataDir }));
  // Only the one that applied it knows the secrets.
  assert.deepEqual((await Promise.all(nodes)).sort(), [false, true]);
});

test('if the secrets were deleted, the demo is reported as unusable', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  await applyDemo({ database, key: testKey, dataDir });
  rmSync(join(dataDir, 'demo.env'));
  assert.equal(await applyDemo({ database, key: testKey, dataDir }), false);
});

test('if the secrets can’t be written, the start fails and nothing is applied', async () => {
  const { database } = await createTestDatabase();
  const dataDir = join(temporaryFolder(), 'missing');
  await assert.rejects(applyDemo({ database, key: testKey, dataDir }), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /Can’t write the demo’s secrets to .* or DEMO=0\.$/);
    return true;
  });
  const { rows } = await database.pool.query(
    'select count(*)::int as count from account where not system',
  );
  assert.deepEqual(rows, [{ count: 0 }]);
});

test('a missing secret makes the start fail with a message', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'demo.env'), 'export DEMO_OWNER_PASSWORD="my own long password"\n');
  await assert.rejects(applyDemo({ database, key: testKey, dataDir }), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /DEMO_CLIENT_SECRET, which isn’t set\. Set DEMO=0 to skip it\.$/);
    return true;
  });
});

test('applying the demo manifest manually changes nothing, and its templates compile without warnings', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  await applyDemo({ database, key: testKey, dataDir });
  const manifest = await parseManifest(await readManifestFile(demoFile), envOf(dataDir));
  assert.deepEqual(changed(await applyManifest(database, testKey, manifest)), []);
  for (const template of manifest.accounts[0]?.templates ?? [])
    assert.deepEqual((await compileTemplate(template.source)).problems, [], template.id);
});

test('the receipt only requires an order number', async () => {
  const { database } = await createTestDatabase();
  const dataDir = temporaryFolder();
  await applyDemo({ database, key: testKey, dataDir });
  const { rows } = await database.pool.query(
    "select compiled -> 'required' as required from template_version where template_id = 'receipt'",
  );
  const { subject, previewText, body } = rows[0].required;
  assert.deepEqual([...new Set([...subject, ...previewText, ...body])], ['Order Number']);
});
