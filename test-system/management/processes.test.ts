import assert from 'node:assert/strict';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { openManagedShop } from '../../test/support/management-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { metricsHeaders } from '../../test/support/service-tokens.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const managed = await openManagedShop(database, service);
const { owner } = managed;
const path = '/installation/processes';

interface ListedProcess {
  readonly id: string;
  readonly pid: number;
  readonly roles: readonly string[];
  readonly version: string;
  readonly state: string;
  readonly inFlight: number;
  readonly delayMs: number | null;
}

async function list(): Promise<ListedProcess[]> {
  const response = await owner.get(path);
  assert.equal(response.status, 200, response.text);
  return response.body.items as ListedProcess[];
}

const metric = async (name: string): Promise<string | undefined> => {
  const response = await fetch(`${service.url}/metrics`, { headers: metricsHeaders });
  return (await response.text()).split('\n').find((line) => line.startsWith(name));
};

test('only operators see the processes', async () => {
  assert.equal((await owner.get(path)).status, 403);
  await managed.makeOperator();
  assert.equal((await owner.get(path)).status, 200);
});

test('each process is listed with its version, roles and load until it stops', async () => {
  const worker = await startTestService({ databaseUrl: url, roles: ['worker'] });
  const both = await waitFor('both processes', async () => {
    const found = await list();
    return found.length === 2 && found;
  });
  assert.deepEqual(both.map(({ roles }) => roles.join()).sort(), [
    'http,management,smtp',
    'worker',
  ]);
  for (const process of both) {
    assert.equal(process.version, packageJson.version);
    assert.equal(process.state, 'running');
    assert.equal(process.inFlight, 0);
    assert.ok(process.delayMs !== null && process.delayMs >= 0);
  }
  assert.match(
    (await metric('signalpost_process_info')) ?? '',
    new RegExp(`\\{version="${packageJson.version}",roles="http,management,smtp"\\} 1$`),
  );
  assert.equal(
    await metric('signalpost_service_processes{state="running"}'),
    'signalpost_service_processes{state="running"} 2',
  );
  await worker.stop();
  assert.deepEqual(
    (await list()).map(({ roles }) => roles.join()),
    ['http,management,smtp'],
  );
});

test('a process that is killed is shown as vanished, and forgotten after an hour', async () => {
  const node = runSignalpost(['serve', '--processes', '1', '--role', 'worker'], {
    DATABASE_URL: url,
    PORT: '0',
    LOG_LEVEL: 'warn',
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  const isKilled = ({ pid }: ListedProcess) => pid === node.child.pid || pid === killedPid;
  let killedPid: number | undefined;
  const running = await waitFor('the process', async () =>
    (await list()).find(({ roles, pid }) => roles.includes('worker') && pid !== process.pid),
  );
  killedPid = running.pid;
  process.kill(killedPid, 'SIGKILL');
  await node.exit;
  const age = (interval: string) =>
    database.pool.query(
      `update service_process set seen_at = seen_at - interval '${interval}' where pid = $1`,
      [killedPid],
    );
  assert.equal((await list()).find(isKilled)?.state, 'running');
  await age('15 seconds');
  const vanished = await waitFor('it to vanish', async () => (await list()).find(isKilled));
  assert.equal(vanished.state, 'vanished');
  assert.equal(vanished.delayMs, null);
  assert.equal(
    await metric('signalpost_service_processes{state="vanished"}'),
    'signalpost_service_processes{state="vanished"} 1',
  );
  await age('1 hour');
  await waitFor('it to be forgotten', async () => !(await list()).some(isKilled));
});
