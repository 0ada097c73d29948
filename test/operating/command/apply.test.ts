import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runInProcess } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const folder = temporaryFolder();
const file = join(folder, 'shop.yaml');

const manifest = `
accounts:
  - id: shop
    name: Shop
    users:
      - { email: ann@shop.test, name: Ann, password: "\${ANN_PASSWORD}", role: owner }
    senders:
      - { address: orders@shop.test, verified: true }
`;
writeFileSync(file, manifest);

describe('apply on your own database', async () => {
  const { url, database } = await createTestDatabase();
  const environment = {
    DATABASE_URL: url,
    DATA_DIR: temporaryFolder(),
    ANN_PASSWORD: 'a very long password',
  };
  const apply = (...args: string[]) => runInProcess(['apply', ...args], environment);

  test('a dry run lists the changes, an apply makes them, and the next one changes nothing', async () => {
    const dry = await apply(file, '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /^created +account +shop$/m);
    assert.match(dry.out, /^Dry run, nothing changed\. Would be: 3 created, 0 changed/m);
    const first = await apply(file);
    assert.match(first.out, /^created +user +shop ann@shop\.test$/m);
    assert.match(first.out, /^Done: 3 created, 0 changed, 0 unchanged, 0 removed\.$/m);
    const second = await apply(file);
    assert.match(second.out, /^Done: 0 created, 0 changed, 3 unchanged, 0 removed\.$/m);
    assert.equal(second.err, '');
  });

  test('- reads the manifest from standard input', async () => {
    const { code, out } = await runInProcess(
      ['apply', '-', '--prune'],
      environment,
      '{"accounts": [{"id": "shop", "name": "Shop", "users": [{"email": "ann@shop.test", "name": "Ann", "role": "owner"}], "senders": []}]}',
    );
    assert.equal(code, 0);
    assert.match(out, /^removed +sender +shop orders@shop\.test$/m);
  });

  test('problems are reported by file, line and path, with exit code 1 and no changes', async () => {
    const wrong = join(folder, 'wrong.yaml');
    writeFileSync(
      wrong,
      manifest.replace('name: Shop', 'nmae: Other').replace('orders@', 'orders.'),
    );
    const { code, out, err } = await apply(wrong);
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, /^.*wrong\.yaml:4: accounts\[0\]\.nmae is unknown; .*$/m);
    assert.match(err, /^.*wrong\.yaml:8: accounts\[0\]\.senders\[0\]\.address is not a valid .*$/m);
    assert.match(err, /^3 problems; nothing changed\.$/m);
    const { rows } = await database.pool.query('select name from account where not system');
    assert.deepEqual(rows, [{ name: 'Shop' }]);
  });

  test('an unreadable or missing file gives a clear message', async () => {
    const missing = await apply(join(folder, 'missing.yaml'));
    assert.equal(missing.code, 1);
    assert.match(missing.err, /^signalpost: The manifest .*missing\.yaml does not exist\.\n$/);
    const none = await apply();
    assert.equal(none.code, 1);
    assert.match(none.err, /missing required argument 'file'/);
    const help = await apply('--help');
    assert.equal(help.code, 0);
    for (const option of ['--prune', '--dry-run']) assert.ok(help.out.includes(option));
  });
});
