import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  claimSystemMail,
  enqueueNotices,
  enqueuePasswordLink,
} from '../../src/accounts/notices/system-mail-store.ts';
import { policies } from '../../src/base/fairness/policies.ts';
import { newId } from '../../src/base/values/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { SessionWorld } from '../support/session-world.ts';
import { signedInManager } from '../support/signed-in-manager.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

test('ASVS 11.1.4: unauthenticated requests can’t block the console', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const person = await new SessionWorld(database).addPerson({ accounts: [] });
  const service = await startTestService({ databaseUrl });
  const manager = await signedInManager(service, person.email);
  const client = await database.pool.connect();
  await client.query('begin');
  // The slow request simulates requests that arrive faster than they are handled.
  await client.query('lock table installation in access exclusive mode');
  const flood = Array.from({ length: 40 }, () => sendRequest(`${service.url}/manage/v1/set-up`));
  const { total, reserve } = policies.managementConnections;
  await waitFor('the flood to hold all connections that it can', async () => {
    const { rows } = await client.query(
      `select from pg_locks where not granted and relation = 'installation'::regclass`,
    );
    return rows.length === total - reserve;
  });
  const me = await manager.get('/me');
  await client.query('rollback');
  client.release();
  assert.equal(me.status, 200, me.text);
  for (const { status, headers } of await Promise.all(flood))
    assert.ok(status === 200 || (status === 503 && headers.get('retry-after')), String(status));
});

test('ASVS 11.1.4: a flood of security notices doesn’t delay requested links', async () => {
  const { database } = await createTestDatabase();
  const toAddress = 'flooded@shop.test';
  const personId = (await new SessionWorld(database).addPerson({ accounts: [] })).id;
  await enqueueNotices(
    database.kysely,
    sql`
      select ${toAddress}::text as to_address, null::uuid as person_id, null as account_id,
        jsonb_build_object('event', n::text) as facts from generate_series(1, 30) as n`,
  );
  await database.pool.query('update system_mail set due_at = now()');
  await database.kysely
    .transaction()
    .execute((transaction) =>
      enqueuePasswordLink(transaction, { id: newId(), toAddress, personId }, '192.0.2.1'),
    );
  const claimed = await claimSystemMail(database.kysely, 20);
  assert.equal(claimed.length, 20);
  assert.ok(claimed.some(({ kind }) => kind === 'password-link'));
});
