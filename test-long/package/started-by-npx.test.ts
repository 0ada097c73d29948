import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { packRepository } from '../../test-system/support/pack-repository.ts';

/** The account `nobody`, which each Debian has. */
const nobody = 65_534;

const folder = await mkdtemp(join(tmpdir(), 'npx-'));
await chmod(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));
const { file } = await packRepository(join(folder, 'repository'));
const [home, empty] = [join(folder, 'home'), join(folder, 'empty')];
for (const path of [home, empty]) {
  await mkdir(path);
  await chown(path, nobody, nobody);
}
await copyFile(file, join(empty, basename(file)));

test('npx starts the packed file in an empty folder for a user without privileges, with its data in that folder', async () => {
  // Of a machine whose registry has a certificate of its own.
  const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
  const child = spawn('npx', ['--yes', `./${basename(file)}`], {
    cwd: empty,
    env: { PATH, NODE_EXTRA_CA_CERTS, HOME: home, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    uid: nobody,
    gid: nobody,
    detached: true,
  });
  const end = once(child, 'close');
  after(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    child.stdout.resume();
    await end;
  });
  let address: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    address = /^\s+Service\s+(http\S+)/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  assert.ok(address, 'it starts');
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  assert.equal((await stat(join(empty, 'data/database'))).uid, nobody);
  assert.equal((await stat(join(empty, 'data/demo.env'))).uid, nobody);
});
