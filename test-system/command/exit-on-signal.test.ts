import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const folder = temporaryFolder();
const manifest = join(folder, 'shop.yaml');
writeFileSync(manifest, 'accounts: [{ id: shop, name: Shop }]');

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process id of the embedded database, available from its start. */
function postmasterOf(dataDir: string): number | undefined {
  try {
    const [pid] = readFileSync(join(dataDir, 'database', 'postmaster.pid'), 'utf8').split('\n');
    return Number(pid) || undefined;
  } catch {
    return undefined;
  }
}

for (const [args, signal, code] of [
  [['migrate'], 'SIGTERM', 143],
  [['apply', manifest], 'SIGINT', 130],
] as const)
  test(`${args[0]} ended by ${signal} leaves no database running`, async () => {
    const dataDir = copyDataFolder('initialized', join(folder, args[0]));
    const command = runSignalpost(args, { DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    const database = await waitFor('the database', () => postmasterOf(dataDir));
    command.child.kill(signal);
    try {
      assert.equal(await command.exit, code);
      await waitFor('the end of the database', () => !isAlive(database));
    } finally {
      if (isAlive(database)) process.kill(database, 'SIGQUIT');
    }
  });
