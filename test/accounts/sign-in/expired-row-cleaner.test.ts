import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpiredRowCleaner } from '../../../src/accounts/sign-in/expired-row-cleaner.ts';
import {
  expiringKinds,
  removeExpiredRows,
} from '../../../src/accounts/sign-in/expired-rows-store.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database } = await createTestDatabase();
const world = new SessionWorld(database);
await world.addAccount();
const client = await world.addIntegration();
const person = await world.addPerson();
const options = { auditDays: 10 };
await database.pool.query(
  `insert into access_token (hash, person_id, client_id, issued_at, expires_at)
   values ('live', $1, $2, now(), now() + interval '1 hour')`,
  [person.id, client.clientId],
);

async function addExpiredTokens(count: number): Promise<void> {
  await database.pool.query(
    `insert into access_token (hash, person_id, client_id, issued_at, expires_at)
     select n::text::bytea, $1, $2, now() - interval '2 hours', now() - interval '1 hour'
     from generate_series(1, $3::integer) n`,
    [person.id, client.clientId, count],
  );
}

async function tokensLeft(): Promise<string[]> {
  const { rows } = await database.pool.query(
    "select convert_from(hash, 'UTF8') as name from access_token order by name",
  );
  return rows.map(({ name }) => String(name));
}

async function addAuditEvent(daysOld: number): Promise<void> {
  await database.pool.query(
    `insert into audit_event (id, kind, outcome, at)
     values (gen_random_uuid(), 'sign_in', 'success', now() - $1 * interval '1 day')`,
    [daysOld],
  );
}

test('expired access tokens are removed in chunks, live ones stay', async () => {
  await addExpiredTokens(2_500);
  const removed: number[] = [];
  await waitFor('all expired tokens to go', async () => {
    removed.push(await removeExpiredRows(database, 'access tokens', 1_000, options));
    return removed.at(-1) === 0;
  });
  assert.deepEqual(removed, [1_000, 1_000, 500, 0]);
  assert.deepEqual(await tokensLeft(), ['live']);
});

test('codes, browser sessions, challenges, links, invitations, guesses, uses of budgets and audit events are removed after they expire', async () => {
  const past = "now() - interval '2 hours'";
  await database.pool.query(
    `insert into grant_code (hash, person_id, client_id, account_id, redirect_uri, redirect_uri_sent, expires_at)
     values ('\\x01', $1, $2, '1000', '', true, ${past})`,
    [person.id, client.clientId],
  );
  await database.pool.query(
    `insert into browser_session (hash, id, person_id, complete, created_at, expires_at, remote_address, user_agent)
     values ('\\x01', $1, $1, true, ${past}, ${past}, '', '')`,
    [person.id],
  );
  await database.pool.query(
    `insert into spent_challenge (challenge, expires_at) values ('\\x01', ${past})`,
  );
  await database.pool.query(
    `insert into password_reset (hash, person_id, expires_at) values ('\\x01', $1, ${past})`,
    [person.id],
  );
  await database.pool.query(
    `insert into invitation (account_id, email, hash, role, invited_by, sent_at, expires_at)
     values ('1000', 'ann@people.test', '\\x01', 'viewer', $1, ${past}, ${past})`,
    [person.id],
  );
  await database.pool.query(
    `insert into wrong_guess (key, failures, last_at, free_at) values ('\\x01', 1, ${past}, ${past})`,
  );
  await database.pool.query(
    `insert into budget_use (key, amount, expires_at) values ('\\x01', 1, ${past})`,
  );
  await database.pool.query(
    `insert into audit_event (id, kind, outcome, at) values ($1, 'sign_in', 'success', now() - interval '11 days')`,
    [person.id],
  );
  for (const kind of expiringKinds.slice(1)) {
    // Otherwise it would be removed with the audit events.
    if (kind === 'refused sign-ins')
      await database.pool.query(
        `insert into audit_event (id, kind, outcome, at) values (gen_random_uuid(), 'sign_in', 'refused', now() - interval '31 days')`,
      );
    assert.equal(await removeExpiredRows(database, kind, 1_000, options), 1, kind);
    assert.equal(await removeExpiredRows(database, kind, 1_000, options), 0, kind);
  }
});

test('locked rows are skipped, so nothing waits for a lock', async () => {
  await addExpiredTokens(3);
  await database.kysely.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom('access_token')
      .select('hash')
      .where('hash', '=', Buffer.from('2'))
      .forUpdate()
      .execute();
    assert.equal(await removeExpiredRows(database, 'access tokens', 1_000, options), 2);
  });
  assert.deepEqual(await tokensLeft(), ['2', 'live']);
  assert.equal(await removeExpiredRows(database, 'access tokens', 1_000, options), 1);
});

test('each chunk is a separate transaction, so no lock outlives a thousand rows', async () => {
  await addExpiredTokens(2_500);
  const cleaner = new ExpiredRowCleaner(database, createLog('silent'), 0);
  const { rows: before } = await database.pool.query('select pg_current_xact_id()::text as id');
  await cleaner.clean();
  const { rows: after } = await database.pool.query('select pg_current_xact_id()::text as id');
  await cleaner.stop();
  assert.ok(BigInt(after[0]?.id) - BigInt(before[0]?.id) > 3n);
  assert.deepEqual(await tokensLeft(), ['live']);
});

test('the audit log is kept for AUDIT_DAYS, and with 0 forever', async () => {
  await addAuditEvent(9.99);
  await addAuditEvent(10.01);
  assert.equal(await removeExpiredRows(database, 'audit events', 1_000, { auditDays: 0 }), 0);
  assert.equal(await removeExpiredRows(database, 'audit events', 1_000, options), 1);
  const { rows } = await database.pool.query('select from audit_event');
  assert.equal(rows.length, 1);
});
