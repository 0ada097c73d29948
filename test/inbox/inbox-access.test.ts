import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { saveMembership } from '../../src/account/membership-store.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { rawRequest } from '../support/raw-request.ts';
import { password, passwordFields, postToken, SessionWorld } from '../support/session-world.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const environment = { HOST: '0.0.0.0', TRUST_PROXY: '127.0.0.1' };
const service = await startTestService({ databaseUrl, environment });
const { port } = new URL(service.url);
const url = `http://127.0.0.1:${port}`;
const paths = ['/inbox', '/inbox/', '/inbox/api/messages', '/inbox/updates', '/inbox/nothing'];

async function statusOf(
  headers: Record<string, string>,
  path = '/inbox',
  method = 'GET',
): Promise<number> {
  return (await rawRequest(`${url}${path}`, { headers, method })).status;
}

test('this machine gets in under its own names', async () => {
  for (const host of [
    'localhost',
    `localhost:${port}`,
    'LocalHost',
    '127.0.0.1',
    `127.0.0.1:${port}`,
    '127.8.9.10',
    '[::1]',
    `[::1]:${port}`,
  ]) {
    assert.equal(await statusOf({ host }), 200, host);
  }
});

test('a foreign name that leads to this machine does not get in (DNS rebinding)', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    'localhost.',
    'inbox.localhost',
    '127.0.0.1.evil.example',
    '127.0.0.1.',
    '1270.0.0.1',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1]',
    'localhost@evil.example',
    'localhost:1:2',
    'localhost:',
    'localhost, evil.example',
  ]) {
    assert.equal(await statusOf({ host }), 403, host);
  }
  for (const path of paths) assert.equal(await statusOf({ host: 'evil.example' }, path), 403, path);
});

test('a request that a proxy speaks for does not get in, whatever the proxy says and however trusted it is', async () => {
  for (const [name, value] of [
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['X-Forwarded-For', '203.0.113.9'],
    ['x-forwarded-host', 'localhost'],
    ['x-forwarded-proto', 'https'],
    ['x-real-ip', '127.0.0.1'],
    ['forwarded', 'for=127.0.0.1'],
    ['via', '1.1 proxy'],
  ] as const) {
    assert.equal(await statusOf({ host: 'localhost', [name]: value }), 403, `${name}: ${value}`);
  }
});

test('another machine does not get in, also where it names this one', async (context) => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal);
  if (outside === undefined) return context.skip('this machine has no address but the loopback');
  const { status, text } = await rawRequest(`http://${outside.address}:${port}/inbox`, {
    headers: { host: 'localhost', accept: 'text/html' },
  });
  assert.equal(status, 403);
  assert.match(text, /access token of an operator/);
});

test('an owner or developer gets in from anywhere with an access token, other roles and strangers do not', async () => {
  const world = new SessionWorld(database);
  const accountId = await world.addAccount();
  const client = await world.addIntegration();
  const headersOf = async (role: 'owner' | 'developer' | 'marketer' | 'viewer') => {
    const person = await world.addPerson();
    await saveMembership(database.kysely, { accountId, personId: person.id, role });
    const { body } = await postToken({ url }, passwordFields(person, client));
    return { host: 'mail.example.com', authorization: `Bearer ${body.access_token}` };
  };
  const owner = await headersOf('owner');
  for (const path of ['/inbox', '/inbox/api/messages'])
    assert.equal(await statusOf(owner, path), 200);
  assert.equal(await statusOf(owner, '/inbox/api/messages', 'DELETE'), 204);
  assert.equal(await statusOf(await headersOf('developer')), 200);
  assert.equal(await statusOf(await headersOf('marketer')), 403);
  assert.equal(await statusOf(await headersOf('viewer')), 403);
  const forged = { host: 'mail.example.com', authorization: `Bearer ${'x'.repeat(43)}` };
  assert.equal(await statusOf(forged), 403);
});

test('an owner or developer who is signed in with the browser gets in, other roles do not', async () => {
  const world = new SessionWorld(database);
  const statusAs = async (role: 'owner' | 'marketer'): Promise<number> => {
    const person = await world.addPerson();
    await saveMembership(database.kysely, {
      accountId: world.accountId,
      personId: person.id,
      role,
    });
    const browser = new TestBrowser(url);
    await browser.submit(await browser.open('/me'), { email: person.email, password });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return statusOf({ host: 'mail.example.com', cookie });
  };
  assert.equal(await statusAs('owner'), 200);
  assert.equal(await statusAs('marketer'), 403);
});

test('who has no part in one of the accounts does not see its mail, an operator does', async () => {
  const world = new SessionWorld(database, '2000');
  const accountId = await world.addAccount();
  const person = await world.addPerson();
  const headers = { host: 'mail.example.com', authorization: '' };
  const client = await world.addIntegration();
  const { body } = await postToken({ url }, passwordFields(person, client));
  headers.authorization = `Bearer ${body.access_token}`;
  assert.equal(await statusOf(headers), 403);
  const operator = (is: boolean) =>
    database.pool.query('update person set operator = $2 where id = $1', [person.id, is]);
  await operator(true);
  assert.equal(await statusOf(headers), 200);
  await operator(false);
  const others = await database.pool.query<{ id: AccountId }>(
    'select id from account where not system',
  );
  for (const { id } of others.rows)
    await saveMembership(database.kysely, {
      accountId: id,
      personId: person.id,
      role: 'developer',
    });
  assert.equal(await statusOf(headers), 200);
  await saveMembership(database.kysely, { accountId, personId: person.id, role: 'viewer' });
  assert.equal(await statusOf(headers), 403);
});

test('a token for one account does not reach the mail of others', async () => {
  const { rows } = await database.pool.query<{ id: AccountId }>(
    'select id from account where not system order by id',
  );
  const [first] = rows;
  assert.ok(first !== undefined && rows.length > 1);
  const world = new SessionWorld(database, first.id);
  const person = await world.addPerson({ accounts: rows.map(({ id }) => id) });
  const client = await world.addIntegration();
  const { body } = await postToken({ url }, passwordFields(person, client));
  const headers = { host: 'mail.example.com', authorization: `Bearer ${body.access_token}` };
  assert.equal(await statusOf(headers), 200);
  await database.pool.query('update access_token set account_id = $1 where person_id = $2', [
    first.id,
    person.id,
  ]);
  const fresh = await startTestService({ databaseUrl, environment });
  const answer = await rawRequest(`http://127.0.0.1:${new URL(fresh.url).port}/inbox`, { headers });
  assert.equal(answer.status, 403);
});

/** How browsers and programs announce themselves, and whether they may change and read. */
const callers: readonly {
  readonly who: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly changes: boolean;
  readonly reads: boolean;
}[] = [
  { who: 'a program such as curl', headers: {}, changes: true, reads: true },
  {
    who: 'a page of the inbox',
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
    changes: true,
    reads: true,
  },
  {
    who: 'a page of the inbox in a browser without Sec-Fetch-Site',
    headers: { origin: url },
    changes: true,
    reads: true,
  },
  {
    who: 'a person who types the address',
    headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    changes: true,
    reads: true,
  },
  {
    who: 'a link on another site',
    headers: {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    },
    changes: false,
    reads: true,
  },
  {
    who: 'a form on another site',
    headers: {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    },
    changes: false,
    reads: true,
  },
  {
    who: 'a frame on another site',
    headers: {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    },
    changes: false,
    reads: false,
  },
  {
    who: 'a script on another site',
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    changes: false,
    reads: false,
  },
  {
    who: 'a script on another port of this machine',
    headers: { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
    changes: false,
    reads: false,
  },
  {
    who: 'another port in a browser without Sec-Fetch-Site',
    headers: { origin: 'http://127.0.0.1:1' },
    changes: false,
    reads: false,
  },
  {
    who: 'another scheme in a browser without Sec-Fetch-Site',
    headers: { origin: url.replace('http:', 'https:') },
    changes: false,
    reads: false,
  },
  { who: 'a sandboxed frame', headers: { origin: 'null' }, changes: false, reads: false },
  { who: 'an Origin that is none', headers: { origin: 'evil' }, changes: false, reads: false },
];

for (const { who, headers, changes, reads } of callers) {
  test(`${who} ${changes ? 'may' : 'may not'} change the inbox and ${reads ? 'may' : 'may not'} read it`, async () => {
    const host = `127.0.0.1:${port}`;
    const emptied = await statusOf({ ...headers, host }, '/inbox/empty', 'POST');
    assert.equal(emptied, changes ? 303 : 403);
    const deleted = await statusOf({ ...headers, host }, '/inbox/api/messages', 'DELETE');
    assert.equal(deleted, changes ? 204 : 403);
    for (const path of ['/inbox', '/inbox/api/messages'])
      assert.equal(await statusOf({ ...headers, host }, path), reads ? 200 : 403, path);
  });
}
