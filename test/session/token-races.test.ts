import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/foundation/clock.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { MasterKey } from '../../src/foundation/master-key.ts';
import { AuditStore } from '../../src/session/audit-store.ts';
import { expiring, removeExpired } from '../../src/session/clean-tokens-store.ts';
import { Form } from '../../src/session/form.ts';
import { RefreshGrant } from '../../src/session/grants/refresh-grant.ts';
import { RefreshTokenStore } from '../../src/session/refresh-tokens-store.ts';
import { hashToken, TokenMint } from '../../src/session/token-mint.ts';
import type { Answer } from '../support/ask.ts';
import {
  passwordFields,
  postToken,
  refreshFields,
  SessionWorld,
} from '../support/session-world.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService, testKey } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url, database } = await createTestDatabase();
const nodes = [
  await startTestService({ databaseUrl: url }),
  await startTestService({ databaseUrl: url }),
] as const;
const world = new SessionWorld(database);
await world.addAccount();
const client = await world.addIntegration();

function nodeOf(index: number): { readonly url: string } {
  return index % 2 === 0 ? nodes[0] : nodes[1];
}

/** Rounds of races; the long tests ask for more. */
const rounds = Number(process.env.ROUNDS ?? 100);

async function signIn(): Promise<{ email: string; id: string; refreshToken: unknown }> {
  const person = await world.addPerson();
  const answer = await postToken(nodes[0], passwordFields(person, client));
  assert.equal(answer.status, 200, answer.text);
  return { ...person, refreshToken: answer.body.refresh_token };
}

async function liveRefreshHash(personId: string): Promise<Buffer | undefined> {
  const { rows } = await database.pool.query(
    'select refresh_hash from session_pair where person_id = $1 and client_id = $2',
    [personId, client.clientId],
  );
  return rows[0]?.refresh_hash;
}

test('5.1 rule 4: of 50 parallel uses of one refresh token on two nodes exactly one wins, every time', async () => {
  let { id, refreshToken } = await signIn();
  for (let round = 0; round < rounds; round += 1) {
    const spent = refreshToken;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        postToken(nodeOf(index), refreshFields(spent, client)),
      ),
    );
    const won = answers.filter((answer) => answer.status === 200);
    const lost = answers.filter((answer) => answer.body.error === 'invalid_grant');
    assert.equal(won.length, 1);
    assert.equal(lost.length, 49);
    refreshToken = won[0]?.body.refresh_token;
    assert.deepEqual(await liveRefreshHash(id), hashToken(String(refreshToken)));
  }
});

test('5.1 rule 4: a spent refresh token is refused, the live one stays, and an operator sees it', async () => {
  const { id, refreshToken } = await signIn();
  const second = await postToken(nodes[0], refreshFields(refreshToken, client));
  const third = await postToken(nodes[1], refreshFields(second.body.refresh_token, client));
  for (const spent of [refreshToken, second.body.refresh_token])
    assert.equal(
      (await postToken(nodes[1], refreshFields(spent, client))).body.error,
      'invalid_grant',
    );
  const { rows } = await database.pool.query(
    "select person_id, outcome from audit_event where kind = 'refresh_token_reused' and client_id = $1 order by id desc limit 2",
    [client.clientId],
  );
  assert.equal(rows.length, 2);
  assert.deepEqual(rows[0], { person_id: id, outcome: 'refused' });
  const fourth = await postToken(nodes[0], refreshFields(third.body.refresh_token, client));
  assert.equal(fourth.status, 200);
});

test('5.1 rule 4: another initial token request ends the refresh token of the one before', async () => {
  const { email, refreshToken } = await signIn();
  const again = await postToken(nodes[1], passwordFields({ email }, client));
  assert.equal(
    (await postToken(nodes[0], refreshFields(refreshToken, client))).body.error,
    'invalid_grant',
  );
  assert.equal(
    (await postToken(nodes[0], refreshFields(again.body.refresh_token, client))).status,
    200,
  );
});

test('5.1 rule 4: pairs do not touch each other: another client, another user', async () => {
  const { email, refreshToken } = await signIn();
  const other = await world.addIntegration();
  const elsewhere = await postToken(nodes[0], passwordFields({ email }, other));
  const someone = await signIn();
  for (const [token, holder] of [
    [refreshToken, client],
    [elsewhere.body.refresh_token, other],
    [someone.refreshToken, client],
  ] as const)
    assert.equal((await postToken(nodes[0], refreshFields(token, holder))).status, 200);
});

test('a refresh that races a log-in never leaves the new session dead', async () => {
  for (let round = 0; round < 40; round += 1) {
    const { email, refreshToken, id } = await signIn();
    const [login, refresh] = await Promise.all([
      postToken(nodes[0], passwordFields({ email }, client)),
      postToken(nodes[1], refreshFields(refreshToken, client)),
    ]);
    assert.equal(login.status, 200);
    const live = await liveRefreshHash(id);
    // The refresh token was spent before the log-in or replaced by it; the log-in's own is live either way.
    assert.deepEqual(live, hashToken(String(login.body.refresh_token)));
    assert.ok(refresh.status === 200 || refresh.body.error === 'invalid_grant');
  }
});

test('8: of 20 parallel initial requests on two nodes exactly five are granted', async () => {
  const person = await world.addPerson();
  const answers: Answer[] = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      postToken(nodeOf(index), passwordFields(person, client)),
    ),
  );
  const granted = answers.filter((answer) => answer.status === 200);
  assert.equal(granted.length, 5);
  assert.equal(answers.filter((answer) => answer.status === 429).length, 15);
  const live = await liveRefreshHash(person.id);
  const hashes = granted.map((answer) => hashToken(String(answer.body.refresh_token)));
  assert.equal(hashes.filter((hash) => live?.equals(hash)).length, 1);
});

test('5.1 rule 3: an access token keeps working although its refresh token is spent', async () => {
  const person = await world.addPerson();
  const first = await postToken(nodes[0], passwordFields(person, client));
  await postToken(nodes[0], refreshFields(first.body.refresh_token, client));
  const { rows } = await database.pool.query(
    "select expires_at - issued_at = interval '3600 s' as exact, expires_at > now() as live from access_token where hash = $1",
    [hashToken(String(first.body.access_token))],
  );
  assert.deepEqual(rows, [{ exact: true, live: true }]);
});

test('nodes of another key neither make nor take these tokens', async () => {
  const foreign = new TokenMint(new MasterKey(Buffer.alloc(32, 8)));
  assert.equal(new TokenMint(testKey).recognises('refresh', foreign.mint('refresh').text), false);
});

test('expired access tokens are removed in chunks, live ones stay', async () => {
  const person = await world.addPerson();
  const { body } = await postToken(nodes[0], passwordFields(person, client));
  await database.pool.query(
    `insert into access_token (hash, person_id, client_id, issued_at, expires_at)
     select sha256(n::text::bytea), $1, $2, now() - interval '2 hours', now() - interval '1 hour'
     from generate_series(1, 2500) n`,
    [person.id, client.clientId],
  );
  const removed: number[] = [];
  await waitFor('all expired tokens to go', async () => {
    removed.push(await removeExpired(database, 'access tokens', 1_000, 0));
    return removed.at(-1) === 0;
  });
  assert.deepEqual(removed, [1_000, 1_000, 500, 0]);
  const { rows } = await database.pool.query('select from access_token where hash = $1', [
    hashToken(String(body.access_token)),
  ]);
  assert.equal(rows.length, 1);
});

test('codes, browser sessions, links and guesses go when their time is over', async () => {
  const person = await world.addPerson();
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
    `insert into password_reset (hash, person_id, expires_at) values ('\\x01', $1, ${past})`,
    [person.id],
  );
  await database.pool.query(
    `insert into wrong_guess (key, failures, last_at, free_at) values ('\\x01', 1, ${past}, ${past})`,
  );
  for (const kind of expiring.slice(1)) {
    assert.equal(await removeExpired(database, kind, 1_000, 0), 1, kind);
    assert.equal(await removeExpired(database, kind, 1_000, 0), 0, kind);
  }
});

test('a refresh is one round trip to the database', async () => {
  const { refreshToken } = await signIn();
  const counted = openDatabase({ url });
  let statements = 0;
  counted.pool.on('acquire', () => {
    statements += 1;
  });
  const grant = new RefreshGrant({
    mint: new TokenMint(testKey),
    store: new RefreshTokenStore(counted),
    audit: new AuditStore(counted),
    clock: systemClock,
  });
  await grant.run({
    client: { ...client, requirePkce: false, previousSecret: undefined },
    form: new Form(new Map([['refresh_token', String(refreshToken)]])),
    origin: { remoteAddress: '', requestId: '' },
  });
  await counted.close();
  assert.equal(statements, 1);
});
