import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { Authenticator } from '../../../src/accounts/access/access-module.ts';
import { findAccessToken } from '../../../src/accounts/access/access-token-store.ts';
import { TokenChecker } from '../../../src/accounts/access/token-checker.ts';
import { type Token, TokenMint } from '../../../src/accounts/access/token-mint.ts';
import {
  revokeClientTokens,
  revokePersonTokens,
} from '../../../src/accounts/oauth/revoke-tokens-store.ts';
import { announceChange } from '../../../src/base/database/announce.ts';
import { ChangeListener } from '../../../src/base/database/change-listener.ts';
import { openDatabase } from '../../../src/base/database/open-database.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { ClientId, PersonId } from '../../../src/base/values/ids.ts';
import { newPersonId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url, clock } = await createTestDatabase();
const mint = new TokenMint(new MasterKey(randomBytes(32)));
const log = createLog('silent');
const client = 'shop' as ClientId;

interface Node {
  checker: TokenChecker;
  authenticator: Authenticator;
  queries: () => number;
}

async function startNode(most?: number): Promise<Node> {
  const own = openDatabase({ url });
  const changes = new ChangeListener(own.settings, log);
  let queries = 0;
  const find = (hash: Buffer) => {
    queries += 1;
    return findAccessToken(own, hash);
  };
  const checker = new TokenChecker({ mint, find, changes, clock }, most);
  await changes.start();
  after(async () => {
    await changes.close();
    await own.close();
  });
  const authenticator = new Authenticator(checker, { check: () => undefined });
  return { checker, authenticator, queries: () => queries };
}

async function newPerson(): Promise<PersonId> {
  const id = newPersonId();
  await database.pool.query("insert into person (id, email, name) values ($1, $2, 'Somebody')", [
    id,
    `${id}@shop.test`,
  ]);
  return id;
}

async function issue(person: PersonId, account: string | null = null): Promise<Token> {
  const token = mint.mint('access');
  await database.pool.query(
    `insert into access_token (hash, person_id, client_id, account_id, issued_at, expires_at)
     values ($1, $2, $3, $4, now(), now() + interval '3600 s')`,
    [token.hash, person, client, account],
  );
  return token;
}

await database.pool.query("insert into account (id, name) values ('1000', 'Shop')");
await database.pool.query(
  `insert into integration (client_id, account_id, name, secret_hash, redirect_uri, grants)
   values ('shop', '1000', 'Shop', '\\x00', 'https://localhost/callback', '{password}')`,
);
const here = await startNode();
const there = await startNode();

test('5.1 rule 1: a live token identifies its caller, the second time synchronously from memory', async () => {
  const person = await newPerson();
  const token = await issue(person);
  const caller = await here.checker.check(token.text);
  assert.deepEqual(caller, {
    kind: 'token',
    personId: person,
    clientId: client,
    reach: 'all',
  });
  const queriesBefore = here.queries();
  assert.equal(here.authenticator.authenticate(`bearer  ${token.text}`), caller);
  assert.equal(here.queries(), queriesBefore);
});

test('a missing header, another scheme and a forged token are refused without a query', async () => {
  const { text } = await issue(await newPerson());
  const forged = text.slice(0, 10) + (text[10] === 'A' ? 'B' : 'A') + text.slice(11);
  const queriesBefore = here.queries();
  const headers = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${text}`,
    text,
    `Bearer ${forged}`,
    `Bearer ${text} ${text}`,
    `Bearer ${text}x`,
    `Bearer ${mint.mint('refresh').text}`,
    `Bearer ${new TokenMint(new MasterKey(randomBytes(32))).mint('access').text}`,
  ];
  for (const header of headers)
    assert.equal(here.authenticator.authenticate(header), undefined, String(header));
  assert.equal(here.queries(), queriesBefore);
});

test('an unknown token is not cached: another node may issue it a moment later', async () => {
  const person = await newPerson();
  const token = mint.mint('access');
  assert.equal(await here.checker.check(token.text), undefined);
  await database.pool.query(
    `insert into access_token (hash, person_id, client_id, issued_at, expires_at)
     values ($1, $2, 'shop', now(), now() + interval '3600 s')`,
    [token.hash, person],
  );
  assert.equal((await here.checker.check(token.text))?.personId, person);
});

test('5.1 rule 3: a token is valid for 3600 seconds, from memory and from the database', async () => {
  const token = await issue(await newPerson());
  const node = await startNode();
  await clock.advance(3_598_000);
  assert.ok(await node.checker.check(token.text));
  assert.ok(node.checker.check(token.text));
  await clock.advance(2_000);
  assert.equal(await node.checker.check(token.text), undefined);
  const fresh = await startNode();
  assert.equal(await fresh.checker.check(token.text), undefined);
  await clock.reset();
});

async function endsWithinASecond(token: Token, end: () => Promise<unknown>): Promise<void> {
  for (const node of [here, there]) {
    await node.checker.check(token.text);
    assert.ok(node.checker.check(token.text), 'cached before');
  }
  await end();
  for (const node of [here, there])
    await waitFor(
      'the token to end',
      async () => (await node.checker.check(token.text)) === undefined,
      1_000,
    );
}

test('revoking all tokens of a person takes effect on every node within a second', async () => {
  const person = await newPerson();
  await endsWithinASecond(await issue(person), () =>
    database.kysely.transaction().execute((transaction) => revokePersonTokens(transaction, person)),
  );
});

test('disabling a person takes effect on every node within a second', async () => {
  const person = await newPerson();
  await endsWithinASecond(await issue(person), () =>
    database.kysely.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('person')
        .set({ disabled_at: new Date() })
        .where('id', '=', person)
        .execute();
      await announceChange(transaction, 'person', person);
    }),
  );
});

test('a token bound to an account ends when the person leaves that account', async () => {
  const person = await newPerson();
  await database.pool.query(
    "insert into membership (account_id, person_id, role) values ('1000', $1, 'owner')",
    [person],
  );
  const token = await issue(person, '1000');
  assert.deepEqual((await here.checker.check(token.text))?.reach, { accountId: '1000' });
  await endsWithinASecond(token, () =>
    database.kysely.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('membership').where('person_id', '=', person).execute();
      await announceChange(transaction, 'person', person);
    }),
  );
});

test('revoking all tokens of an integration takes effect on every node within a second', async () => {
  const kept = await issue(await newPerson());
  await endsWithinASecond(kept, () =>
    database.kysely.transaction().execute((transaction) => revokeClientTokens(transaction, client)),
  );
});

test('memory stays bounded with many tokens, and concurrent requests share one query', async () => {
  const node = await startNode(10);
  const person = await newPerson();
  const tokens = await Promise.all(Array.from({ length: 40 }, () => issue(person)));
  for (const token of tokens) assert.ok(await node.checker.check(token.text));
  assert.equal(node.queries(), 40);
  const [first] = tokens;
  assert.ok(first);
  await Promise.all(Array.from({ length: 5 }, () => node.checker.check(first.text)));
  assert.equal(node.queries(), 41);
});
