import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashToken, TokenMint } from '../../../src/accounts/access/token-mint.ts';
import {
  consumeAuthorizationCode,
  saveAuthorizationCode,
} from '../../../src/accounts/oauth/authorization-code-store.ts';
import { issueInitialTokens } from '../../../src/accounts/oauth/grants.ts';
import {
  revokeClientTokens,
  revokeCodeTokens,
  revokePersonTokens,
  revokeReachedTokens,
} from '../../../src/accounts/oauth/revoke-tokens-store.ts';
import { refreshTokens } from '../../../src/accounts/oauth/tokens-store.ts';
import { replacePersonPassword } from '../../../src/accounts/sign-in/change-password.ts';
import type { Database } from '../../../src/base/database/open-database.ts';
import type { ClientId, PersonId } from '../../../src/base/values/ids.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { testKey } from '../../support/test-service.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database } = await createTestDatabase();
const mint = new TokenMint(testKey);
const parts = { database, mint };
const world = new SessionWorld(database);
const accountId = await world.addAccount();

type Transaction = Database['kysely'];

interface Pair {
  readonly personId: PersonId;
  readonly clientId: ClientId;
}

async function newPair(): Promise<Pair> {
  const [{ id: personId }, { clientId }] = [await world.addPerson(), await world.addIntegration()];
  return { personId, clientId };
}

async function newCode(pair: Pair): Promise<Buffer> {
  const { hash } = mint.mint('code');
  const code = { ...pair, accountId, redirectUri: '', redirectUriSent: false };
  const person = { personId: pair.personId, reach: 'all' } as const;
  const all = { ...code, codeChallenge: null };
  assert.ok(await saveAuthorizationCode(database.kysely, hash, person, all));
  return hash;
}

async function spend(transaction: Transaction, { clientId }: Pair, codeHash: Buffer) {
  assert.ok(await consumeAuthorizationCode(transaction, codeHash, clientId));
}

/** Issues the tokens of a code consumed in the same transaction; returns the hash of the refresh token. */
async function issue(transaction: Transaction, pair: Pair, codeHash: Buffer): Promise<Buffer> {
  const proven = { ...pair, accountId, passwordHash: undefined, codeHash };
  const { refreshToken } = await issueInitialTokens(parts, proven, transaction);
  return hashToken(refreshToken);
}

async function refresh(transaction: Transaction, { clientId }: Pair, usedHash: Buffer) {
  const [access, fresh] = [mint.mint('access'), mint.mint('refresh')];
  const hashes = { usedHash, accessHash: access.hash, refreshHash: fresh.hash };
  assert.equal(await refreshTokens(transaction, { clientId, ...hashes }), true);
}

/** Revokes tokens while another transaction is issuing some; that one continues once the revocation waits for it. */
async function race(
  begin: (transaction: Transaction) => Promise<unknown>,
  end: (transaction: Transaction) => Promise<unknown>,
  proceed?: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  let ending: Promise<unknown> = Promise.resolve();
  await database.kysely.transaction().execute(async (transaction) => {
    await begin(transaction);
    ending = database.kysely.transaction().execute(end);
    ending.catch(() => undefined);
    await waitForLock(database);
    await proceed?.(transaction);
  });
  await ending;
}

async function liveTokensOf({ personId }: Pair): Promise<{ access: number; refresh: number }> {
  const { rows } = await database.pool.query(
    `select (select count(*)::integer from access_token where person_id = $1) as access,
       (select count(*)::integer from session_pair where person_id = $1 and refresh_hash is not null) as refresh`,
    [personId],
  );
  return rows[0];
}

const revocations: Readonly<
  Record<string, (transaction: Transaction, pair: Pair, code: Buffer) => Promise<void>>
> = {
  'a person’s tokens': (transaction, { personId }) => revokePersonTokens(transaction, personId),
  'an integration’s tokens': (transaction, { clientId }) =>
    revokeClientTokens(transaction, clientId),
  'a pair’s tokens': (transaction, { personId, clientId }) =>
    revokeReachedTokens(transaction, { personId, reach: 'all' }, clientId),
  'a code’s tokens': (transaction, _pair, code) => revokeCodeTokens(transaction, code),
};

for (const [what, end] of Object.entries(revocations))
  test(`RFC 9700 4.14.2: a concurrent refresh leaves nothing alive when ${what} are revoked`, async () => {
    const pair = await newPair();
    const code = await newCode(pair);
    await spend(database.kysely, pair, code);
    const live = await issue(database.kysely, pair, code);
    await race(
      (transaction) => refresh(transaction, pair, live),
      (transaction) => end(transaction, pair, code),
    );
    assert.deepEqual(await liveTokensOf(pair), { access: 0, refresh: 0 });
  });

for (const [what, end] of Object.entries(revocations).slice(0, 3))
  test(`RFC 9700 4.5: a code being redeemed leaves nothing alive when ${what} are revoked`, async () => {
    const pair = await newPair();
    const code = await newCode(pair);
    await race(
      (transaction) => spend(transaction, pair, code),
      (transaction) => end(transaction, pair, code),
      (transaction) => issue(transaction, pair, code),
    );
    assert.deepEqual(await liveTokensOf(pair), { access: 0, refresh: 0 });
  });

test('ASVS 3.3.3: a new password revokes what a concurrent code exchange issues, and neither blocks the other', async () => {
  const pair = await newPair();
  const code = await newCode(pair);
  await race(
    (transaction) => spend(transaction, pair, code),
    (transaction) => replacePersonPassword(transaction, pair.personId, 'another'),
    (transaction) => issue(transaction, pair, code),
  );
  assert.deepEqual(await liveTokensOf(pair), { access: 0, refresh: 0 });
});
