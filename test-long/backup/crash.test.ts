import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BackupScene, type ScenicService, sendReceipt } from '../../test/support/backup-scene.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';

const scene = new BackupScene();
await scene.createKey();

/** Runs a command and kills it after a time. @returns whether it was killed */
async function kill(afterMs: number, ...args: string[]): Promise<boolean> {
  const { child, exit } = runSignalpost(args, scene.environment);
  await Promise.race([delay(afterMs), exit]);
  child.kill('SIGKILL');
  return (await exit) === 'SIGKILL';
}

async function kill9({ running }: ScenicService): Promise<void> {
  running.child.kill('SIGKILL');
  await running.exit;
}

function bases(): string[] {
  const folder = join(scene.target, 'base');
  return existsSync(folder) ? readdirSync(folder) : [];
}

test('a backup killed at any point leaves only complete backups', async () => {
  const service = await scene.start();
  await sendReceipt(service, 'C-1');
  let killed = 0;
  // Until the program has loaded, nothing happens; the steps cover the copy and the end.
  for (let afterMs = 300; killed < 40; afterMs += 120) {
    if (!(await kill(afterMs, 'backup', scene.target))) break;
    killed += 1;
    const { out } = await scene.run('backup', 'list', scene.target, '--json');
    const complete = out.split('\n').filter((line) => line !== '');
    assert.ok(complete.length <= bases().length);
  }
  assert.ok(killed > 3, `killed ${killed} times`);
  await scene.run('backup', scene.target);
  const { out } = await scene.run('backup', 'list', scene.target, '--json');
  const complete = out.split('\n').filter((line) => line !== '');
  assert.equal(bases().length, complete.length, 'what killed backups left is removed');
  await scene.run('backup', 'verify', scene.target, '--identity', scene.identity);
  await kill9(service);
});

test('a restore killed at any point is repeated, and no service starts on it before', async () => {
  await rm(scene.dataDir, { recursive: true, force: true, maxRetries: 20 });
  let killed = 0;
  // Each one finds what the killed one before left, also its running database.
  for (let afterMs = 300; killed < 40; afterMs += 200) {
    if (!(await kill(afterMs, 'restore', scene.target, '--identity', scene.identity))) break;
    killed += 1;
    if (existsSync(join(scene.dataDir, 'restore.unfinished')))
      assert.match(await scene.fail('start'), /didn’t finish/);
  }
  assert.ok(killed > 3, `killed ${killed} times`);
  assert.ok(existsSync(join(scene.dataDir, 'signalpost.key')));
  await kill9(await scene.start());
});
