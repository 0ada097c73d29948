import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { signInToManagement } from '../../support/management-client.ts';
import { SendClient } from '../../support/send-client.ts';
import { getToken } from '../../support/shop.ts';
import { startTestService } from '../../support/test-service.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, shop, owner, path, databaseUrl: url } = await openTestShop({ worker: false });

/**
 * A node and the database backend of its change listener. Each test has a separate node, because a connection lost on a
 * busy machine gets another backend.
 */
async function startNode() {
  const before = await listeners();
  const node = await startTestService({ databaseUrl: url, worker: false });
  const listener = await waitFor('the node to listen', async () =>
    (await listeners()).find((pid) => !before.includes(pid)),
  );
  return { node, listener };
}

async function listeners(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'signalpost changes'`,
  );
  return rows.map(({ pid }) => pid);
}

await waitFor('the service to listen', async () => (await listeners()).length === 1);
await setOperator(database.kysely, shop.owner.id, true);

/** Runs work while a node receives no announcements, as can happen briefly on a busy machine. */
async function withoutAnnouncements(listener: number, act: () => Promise<void>): Promise<void> {
  process.kill(listener, 'SIGSTOP');
  try {
    await act();
  } finally {
    process.kill(listener, 'SIGCONT');
  }
}

test('a renamed account has its new name on any node immediately', async () => {
  const { node, listener } = await startNode();
  const otherNode = await signInToManagement(node, shop.owner.email);
  await otherNode.get('/me');
  await withoutAnnouncements(listener, async () => {
    assert.equal((await owner.put(path, { name: 'Known at once' })).status, 200);
    const { accounts } = (await otherNode.get('/me')).body as { accounts: { name: string }[] };
    assert.equal(accounts[0]?.name, 'Known at once');
  });
});

test('a new account is usable on any node immediately', async () => {
  const { node, listener } = await startNode();
  const otherNode = await signInToManagement(node, shop.owner.email);
  await otherNode.get('/accounts/46199/lists');
  await withoutAnnouncements(listener, async () => {
    const made = await owner.put('/installation/accounts/46199', { name: 'Third' });
    assert.equal(made.status, 201, made.text);
    assert.equal((await otherNode.get('/accounts/46199/lists')).status, 200);
  });
});

test('a change is effective on its node before the response', async () => {
  const { node, listener } = await startNode();
  const client = new SendClient(node, await getToken(node, shop));
  const manager = await signInToManagement(node, shop.owner.email);
  assert.equal((await client.send()).status, 200);
  process.kill(listener, 'SIGSTOP');
  const stopped = performance.now();
  let answered = false;
  const change = manager
    .put(`/installation${path}`, { name: 'Shop', suspended: true })
    .finally(() => {
      answered = true;
    });
  try {
    await waitFor('the change to be committed', async () => {
      const { rows } = await database.pool.query(
        `select from account where id = $1 and suspended_at is not null`,
        [shop.id],
      );
      return rows.length > 0;
    });
    const { status } = await client.send();
    // Caches are bypassed a second after the last heartbeat of the listener, which is sent every 0.3 s.
    const late = performance.now() - stopped > 600;
    assert.ok(late || (status === 200 && !answered), 'it is not heard of, and not answered');
  } finally {
    process.kill(listener, 'SIGCONT');
  }
  assert.equal((await change).status, 200);
  assert.equal((await client.send()).body.errorName, 'ACCOUNT_SUSPENDED');
});
