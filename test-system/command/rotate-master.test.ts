import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { type Finished, runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const dataDir = copyDataFolder('started');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };

function rotate(...more: string[]): Promise<Finished> {
  return runInProcess(['key', 'rotate-master', ...more], environment);
}

async function start(): Promise<{ url: string; stop(): Promise<unknown> }> {
  const service = runSignalpost(['start'], environment);
  const [, url = ''] = await service.printed(/Service\s+(http\S+)/);
  return {
    url,
    stop: () => {
      service.child.kill('SIGTERM');
      return service.exit;
    },
  };
}

const first = await start();
const demo = parseEnv(await readFile(join(dataDir, 'demo.env'), 'utf8'));

async function token(url: string, more: Record<string, string>): Promise<Record<string, string>> {
  const body = new URLSearchParams({
    client_id: 'demo',
    client_secret: demo.DEMO_CLIENT_SECRET ?? '',
    ...more,
  });
  const response = await fetch(`${url}/token`, { method: 'POST', body });
  return (await response.json()) as Record<string, string>;
}

const passwordGrant = (url: string) =>
  token(url, {
    grant_type: 'password',
    username: 'owner@shop.test',
    password: demo.DEMO_OWNER_PASSWORD ?? '',
  });
const refresh = (url: string, refreshToken = '') =>
  token(url, { grant_type: 'refresh_token', refresh_token: refreshToken });

async function lists(url: string, accessToken = ''): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${url}/api/1/list`, { headers })).status;
}

test('ASVS 4.0.3 6.4.1: the master key is rotated while the service runs, with kills at any point, and nothing stops working before --finish', async () => {
  const keyBefore = await readFile(join(dataDir, 'signalpost.key'), 'utf8');
  const tokens = await passwordGrant(first.url);
  assert.equal(await lists(first.url, tokens.access_token), 200, JSON.stringify(tokens));
  for (const milliseconds of [300, 600, 900, 1_200, 2_000, 4_000]) {
    const killed = runSignalpost(['key', 'rotate-master'], environment);
    await Promise.race([delay(milliseconds), killed.exit]);
    killed.child.kill('SIGKILL');
    await killed.exit;
    assert.equal(await lists(first.url, tokens.access_token), 200, `after ${milliseconds} ms`);
  }
  const done = await rotate();
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /The new master key is in use/);
  assert.notEqual(await readFile(join(dataDir, 'signalpost.key'), 'utf8'), keyBefore);
  assert.equal(await readFile(join(dataDir, 'signalpost.previous.key'), 'utf8'), keyBefore);
  assert.equal(existsSync(join(dataDir, 'signalpost.next.key')), false);

  // Data created with the previous key still works, even after a restart with both.
  assert.equal(await lists(first.url, tokens.access_token), 200);
  await first.stop();
  const second = await start();
  assert.equal(await lists(second.url, tokens.access_token), 200);
  const report = await rotate('--finish');
  assert.equal(report.code, 0, report.err);
  assert.match(report.out, /client secrets of integrations[^\n]*: 1\n {4}demo\n/);
  assert.match(report.out, /refresh tokens: 1\n/);
  assert.match(report.out, /Nothing was changed/);

  // Secrets and tokens used in the meantime survive the end of the rotation.
  const refreshed = await refresh(second.url, tokens.refresh_token);
  assert.equal(await lists(second.url, refreshed.access_token), 200, JSON.stringify(refreshed));
  await waitFor('the secret to be rehashed', async () =>
    /client secrets of integrations[^\n]*: 0\n/.test((await rotate('--finish')).out),
  );
  const ended = await rotate('--finish', '--yes');
  assert.match(ended.out, /refresh tokens: 0\n/);
  assert.match(ended.out, /The previous master key was removed/);
  assert.equal(existsSync(join(dataDir, 'signalpost.previous.key')), false);
  assert.equal(await lists(second.url, refreshed.access_token), 200);
  assert.equal((await rotate('--finish', '--yes')).out, 'No rotation is in progress.\n');
  await second.stop();
  const third = await start();
  assert.equal(await lists(third.url, tokens.access_token), 401);
  assert.equal(await lists(third.url, refreshed.access_token), 200);
  assert.ok((await refresh(third.url, refreshed.refresh_token)).access_token);
  await third.stop();
});

test('ASVS 4.0.3 6.4.1: nodes with their own settings get both keys one after the other; one that lacks the new key stops the rotation', async () => {
  const { url, database } = await createTestDatabase();
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'));
  const only = { DATABASE_URL: url, SIGNALPOST_KEY: oldKey ?? '', PORT: '0', LOG_LEVEL: 'warn' };
  const both = { ...only, SIGNALPOST_KEY: newKey ?? '', SIGNALPOST_KEY_PREVIOUS: oldKey ?? '' };
  const startNode = async (settings: Record<string, string>) => {
    const node = runSignalpost(['serve', '--processes', '1'], settings);
    await node.printed(/http:\/\//);
    return node;
  };
  const run = (settings: Record<string, string>, ...more: string[]) =>
    runInProcess(['key', 'rotate-master', ...more], settings);
  const lagging = await startNode(only);
  const advice = await run(only);
  assert.match(advice.out, /SIGNALPOST_KEY=[A-Za-z0-9+/]{43}=\n {2}SIGNALPOST_KEY_PREVIOUS=/);
  const ready = await startNode(both);
  const command = runSignalpost(['key', 'rotate-master'], both);
  await command.printed(/Waiting until every process knows/);
  const fingerprint = async () =>
    (
      await database.pool.query(
        'select key_fingerprint as f, key_previous_fingerprint as p from installation',
      )
    ).rows[0];
  const before = await fingerprint();
  /** Waits until both nodes have reported their keys again. */
  const waitForBothNodes = async () => {
    const { rows } = await database.pool.query<{ now: Date }>('select now()');
    await waitFor('both nodes', async () => {
      const seen = await database.pool.query('select from key_node where seen_at > $1', [
        rows[0]?.now,
      ]);
      return seen.rowCount === 2;
    });
  };
  await waitForBothNodes();
  assert.deepEqual(await fingerprint(), before, 'one node lacks the new key');
  lagging.child.kill('SIGTERM');
  await lagging.exit;
  assert.equal(await command.exit, 0, command.output.stderr);
  const after = await fingerprint();
  assert.equal(after.p, before.f);
  const wrong = await run({ ...both, SIGNALPOST_KEY_PREVIOUS: '' });
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /SIGNALPOST_KEY_PREVIOUS/);
  assert.equal((await run(both, '--finish', '--yes')).code, 0);
  assert.equal((await run({ ...both, SIGNALPOST_KEY_PREVIOUS: '' }, '--finish')).code, 0);
  ready.child.kill('SIGTERM');
  await ready.exit;
});
