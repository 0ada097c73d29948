import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileStore } from '../../packages/client/src/file-store.ts';
import {
  type Grant,
  memoryStore,
  OAuthError,
  Signalpost,
  type TokenStore,
} from '../../packages/client/src/index.ts';
import { clientSecret, password, SessionWorld } from '../support/session-world.ts';
import { openSharedShop } from '../support/test-shop.ts';

const { database, service, shop } = await openSharedShop({ worker: false });
const folder = await mkdtemp(join(tmpdir(), 'client-test-'));
after(() => rm(folder, { recursive: true }));

let tokenRequests: (string | null)[] = [];
/** Counts what the client asks of the token endpoint. */
const counting: typeof fetch = (input, init) => {
  const { body } = init ?? {};
  if (body instanceof URLSearchParams) tokenRequests.push(body.get('grant_type'));
  return fetch(input, init);
};

/** A grant of a new user, with an allowance of its own. */
async function newGrant(): Promise<Grant> {
  const { email } = await new SessionWorld(database, shop.id).addPerson();
  return { type: 'password', username: email, password };
}

const grant: Grant = { type: 'password', username: shop.owner.email, password };
function client(oauth: { grant?: Grant; store?: TokenStore } = {}) {
  tokenRequests = [];
  return new Signalpost({
    url: `${service.url}/`,
    account: shop.id,
    fetch: counting,
    oauth: { clientId: shop.integration.clientId, clientSecret, grant, ...oauth },
  });
}
const message = { to: 'ada@people.test', data: { 'Order Number': 'A-1' } };

test('5.2: many sends at once get one token', async () => {
  const signalpost = client();
  await Promise.all(Array.from({ length: 20 }, () => signalpost.send('t-0001', message)));
  assert.deepEqual(tokenRequests, ['password']);
});

/** Replaces the access token of a store by one that the service refuses. */
async function spoil(store: TokenStore): Promise<void> {
  const tokens = await store.get();
  assert.ok(tokens);
  await store.set({ ...tokens, accessToken: 'ended' });
}

test('5.4: a token that ended is refreshed, and the send repeated', async () => {
  const store = memoryStore();
  await client({ store }).send('t-0001', message);
  await spoil(store);
  const signalpost = client({ store });
  await Promise.all(Array.from({ length: 5 }, () => signalpost.send('t-0001', message)));
  assert.deepEqual(tokenRequests, ['refresh_token']);
});

test('8: processes with one store share a token pair', async () => {
  const path = join(folder, 'tokens.json');
  const open = () => Array.from({ length: 8 }, () => client({ store: fileStore(path) }));
  await Promise.all(open().map((one) => one.send('t-0001', message)));
  assert.deepEqual(tokenRequests, ['password']);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await spoil(fileStore(path));
  await Promise.all(open().map((one) => one.send('t-0001', message)));
  assert.deepEqual(tokenRequests, ['refresh_token']);
});

test('a lock that a dead process left is removed once, so only one process at a time works with the file', async () => {
  const path = join(folder, 'left.json');
  const old = new Date(Date.now() - 3_600_000);
  for (const left of [`${path}.lock`, `${path}.lock.stale`]) {
    await writeFile(left, '');
    await utimes(left, old, old);
  }
  let working = 0;
  const work = async () => {
    working += 1;
    assert.equal(working, 1);
    await stat(`${path}.lock`);
    working -= 1;
  };
  await Promise.all(Array.from({ length: 16 }, () => fileStore(path).lock(work)));
  await assert.rejects(stat(`${path}.lock`), { code: 'ENOENT' });
});

test('5.1 rule 4: when another client has replaced the refresh token, the password grant is used again', async () => {
  const store = memoryStore();
  const grant = await newGrant();
  await client({ store, grant }).send('t-0001', message);
  await client({ grant }).send('t-0001', message);
  await spoil(store);
  await client({ store, grant }).send('t-0001', message);
  assert.deepEqual(tokenRequests, ['refresh_token', 'password']);
});

test('RFC 6749 5.2: refused credentials are an error that contains none of them', async () => {
  const wrong = 'not the password';
  await assert.rejects(
    () => client({ grant: { ...grant, password: wrong } }).send('t-0001', message),
    (error) =>
      error instanceof OAuthError &&
      error.error === 'invalid_grant' &&
      !JSON.stringify(error, Object.getOwnPropertyNames(error)).includes(wrong),
  );
});
