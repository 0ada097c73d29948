import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashToken, TokenMint } from '../../src/accounts/access/token-mint.ts';
import { MasterKey } from '../../src/base/secrets/master-key.ts';
import { statementsOf } from '../../test/support/record-statements.ts';
import type { TextResponse } from '../../test/support/send-request.ts';
import {
  openSessionWorld,
  passwordFields,
  postToken,
  refreshFields,
} from '../../test/support/session-world.ts';
import { testKey } from '../../test/support/test-service.ts';

const { database, service, world, startOther } = await openSessionWorld();
const nodes = [service, await startOther()] as const;
const client = await world.addIntegration();

function nodeOf(index: number): { readonly url: string } {
  return index % 2 === 0 ? nodes[0] : nodes[1];
}

/** Number of races; the long tests set a higher one. */
const rounds = Number(process.env.ROUNDS ?? 30);

async function signIn(): Promise<{ email: string; id: string; refreshToken: unknown }> {
  const person = await world.addPerson();
  const response = await postToken(nodes[0], passwordFields(person, client));
  assert.equal(response.status, 200, response.text);
  return { ...person, refreshToken: response.body.refresh_token };
}

async function liveRefreshHash(personId: string): Promise<Buffer | undefined> {
  const { rows } = await database.pool.query(
    'select refresh_hash from session_pair where person_id = $1 and client_id = $2',
    [personId, client.clientId],
  );
  return rows[0]?.refresh_hash;
}

test('5.1 rule 4: of 50 parallel uses of one refresh token on two nodes, exactly one wins, every time', async () => {
  let round = 0;
  /** Runs the races of one session in sequence. */
  const race = async (): Promise<void> => {
    let { id, refreshToken } = await signIn();
    while (round < rounds) {
      round += 1;
      const spent = refreshToken;
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          postToken(nodeOf(index), refreshFields(spent, client)),
        ),
      );
      const won = responses.filter((response) => response.status === 200);
      const lost = responses.filter((response) => response.body.error === 'invalid_grant');
      assert.equal(won.length, 1);
      assert.equal(lost.length, 49);
      refreshToken = won[0]?.body.refresh_token;
      assert.deepEqual(await liveRefreshHash(id), hashToken(String(refreshToken)));
    }
  };
  await Promise.all(Array.from({ length: 4 }, race));
});

test('5.1 rule 4: a used refresh token is refused, the live one stays, and the event is recorded', async () => {
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

test('5.1 rule 4: another initial token request invalidates the previous refresh token', async () => {
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

test('5.1 rule 4: pairs are independent: another client, another user', async () => {
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

test('a refresh that races a sign-in never leaves the new session dead', async () => {
  for (let round = 0; round < 40; round += 1) {
    const { email, refreshToken, id } = await signIn();
    const [login, refresh] = await Promise.all([
      postToken(nodes[0], passwordFields({ email }, client)),
      postToken(nodes[1], refreshFields(refreshToken, client)),
    ]);
    assert.equal(login.status, 200);
    const live = await liveRefreshHash(id);
    // The refresh token was used before the sign-in or replaced by it; the sign-in's own is live either way.
    assert.deepEqual(live, hashToken(String(login.body.refresh_token)));
    assert.ok(refresh.status === 200 || refresh.body.error === 'invalid_grant');
  }
});

test('8: of 20 parallel initial requests on two nodes, exactly five are granted', async () => {
  const person = await world.addPerson();
  const responses: TextResponse[] = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      postToken(nodeOf(index), passwordFields(person, client)),
    ),
  );
  const granted = responses.filter((response) => response.status === 200);
  assert.equal(granted.length, 5);
  assert.equal(responses.filter((response) => response.status === 429).length, 15);
  const live = await liveRefreshHash(person.id);
  const hashes = granted.map((response) => hashToken(String(response.body.refresh_token)));
  assert.equal(hashes.filter((hash) => live?.equals(hash)).length, 1);
});

test('5.1 rule 3: an access token keeps working after its refresh token is used', async () => {
  const person = await world.addPerson();
  const first = await postToken(nodes[0], passwordFields(person, client));
  await postToken(nodes[0], refreshFields(first.body.refresh_token, client));
  const { rows } = await database.pool.query(
    "select expires_at - issued_at = interval '3600 s' as exact, expires_at > now() as live from access_token where hash = $1",
    [hashToken(String(first.body.access_token))],
  );
  assert.deepEqual(rows, [{ exact: true, live: true }]);
});

test('nodes with another key neither issue nor accept these tokens', async () => {
  const foreign = new TokenMint(new MasterKey(Buffer.alloc(32, 8)));
  assert.equal(new TokenMint(testKey).recognizes('refresh', foreign.mint('refresh').text), false);
});

test('a refresh takes one round trip to the database', async () => {
  const first = await signIn();
  const warm = await postToken(nodes[0], refreshFields(first.refreshToken, client));
  // Each call is one round trip: statement, values and end of message are sent together.
  const statements = await statementsOf(async () => {
    const response = await postToken(nodes[0], refreshFields(warm.body.refresh_token, client));
    assert.equal(response.status, 200);
  });
  const own = statements.filter((text) =>
    /session_pair|access_token|integration|person|audit_event|begin|commit/.test(text),
  );
  assert.equal(own.length, 1, own.join('\n'));
});
