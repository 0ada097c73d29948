import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-link.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders, metricsHeaders } from '../../support/service-tokens.ts';
import { password, passwordFields, postToken, SessionWorld } from '../../support/session-world.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url: databaseUrl, database, clock } = await createTestDatabase();
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

test('programs get in with INBOX_TOKEN, from anywhere and under any host name', async () => {
  for (const host of ['localhost', `127.0.0.1:${port}`, 'mail.example.com'])
    for (const path of ['/inbox', '/inbox/api/messages'])
      assert.equal(await statusOf({ host, ...inboxHeaders }, path), 200, `${host} ${path}`);
  assert.equal(await statusOf(inboxHeaders, '/inbox/api/messages', 'DELETE'), 204);
});

test('an anonymous visitor is asked for the token on every path, and a page says how to get access', async () => {
  for (const path of paths) assert.equal(await statusOf({}, path), 401, path);
  assert.equal(await statusOf({}, '/inbox/api/messages', 'DELETE'), 401);
  const page = await rawRequest(`${url}/inbox`, { headers: { accept: 'text/html' } });
  assert.equal(page.headers['www-authenticate'], 'Bearer realm="signalpost inbox"');
  assert.match(page.text, /bin\/signalpost inbox-link/);
  assert.match(page.text, /INBOX_TOKEN/);
  assert.match(page.text, /href="\/sign-in\?next=%2Finbox"/);
});

test('a wrong token is rejected as invalid, even with a valid cookie', async () => {
  const cookie = await openLink(await newLink());
  for (const wrong of [
    `${inboxHeaders.authorization}x`,
    'Bearer x',
    metricsHeaders.authorization,
  ]) {
    const { status, headers } = await rawRequest(`${url}/inbox`, {
      headers: { authorization: wrong, cookie },
    });
    assert.equal(status, 401, wrong);
    assert.match(headers['www-authenticate'] ?? '', /error="invalid_token"/);
  }
  // Credentials for a proxy in front are not credentials for this service.
  assert.equal(await statusOf({ authorization: 'Basic dTpw', cookie }), 200);
});

test('without INBOX_TOKEN, no token is accepted', async () => {
  const closed = await startTestService({ databaseUrl, environment: { INBOX_TOKEN: '' } });
  for (const authorization of ['Bearer undefined', inboxHeaders.authorization]) {
    const { status } = await sendRequest(`${closed.url}/inbox`, { headers: { authorization } });
    assert.equal(status, 401, authorization);
  }
});

/** A link as printed at the start. */
function newLink(): Promise<string> {
  return createOneTimeLink(database, 'inbox', url);
}

/** The cookie that a link gives to a browser. */
async function openLink(link: string): Promise<string> {
  const { status, headers } = await sendRequest(link);
  assert.equal(status, 303);
  assert.equal(headers.get('location'), '/inbox');
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

test('ASVS 2.8.4: a link opens the inbox for one browser, once', async () => {
  const link = await newLink();
  assert.equal(
    (await sendRequest(link, { method: 'HEAD' })).status,
    401,
    'a preview request consumes nothing',
  );
  const first = await sendRequest(link);
  const given = first.headers.get('set-cookie') ?? '';
  assert.match(
    given,
    /^signalpost-inbox=\d+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const cookie = given.split(';')[0] ?? '';
  for (const path of ['/inbox', '/inbox/api/messages'])
    assert.equal(await statusOf({ cookie }, path), 200);
  const again = await sendRequest(link);
  assert.equal(again.status, 401);
  assert.equal(again.headers.get('set-cookie'), null);
  // Following the link again in the same browser leads to the inbox.
  assert.equal(
    (await sendRequest(link, { headers: { cookie } })).headers.get('location'),
    '/inbox',
  );
  assert.equal(await statusOf({ cookie: `${cookie.slice(0, -1)}~` }), 401);
});

test('of many browsers that open a link at once, one gets in', async () => {
  const link = await newLink();
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => (await sendRequest(link)).status),
  );
  assert.deepEqual(statuses.sort(), [303, ...Array.from({ length: 7 }, () => 401)]);
});

test('a new link invalidates the previous one; browsers that are in stay in', async () => {
  const cookie = await openLink(await newLink());
  const earlier = await newLink();
  const later = await newLink();
  assert.equal((await sendRequest(earlier)).status, 401);
  await openLink(later);
  assert.equal(await statusOf({ cookie }), 200);
});

test('a link works for a day, and its cookie for a week', async () => {
  const link = await newLink();
  const node = await startTestService({ databaseUrl, clock });
  const there = link.replace(url, node.url);
  await clock.advance(25 * 3_600_000);
  assert.equal((await sendRequest(there)).status, 401);
  await clock.advance(-2 * 3_600_000);
  const entered = await sendRequest(there);
  assert.equal(entered.status, 303);
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  assert.equal((await sendRequest(`${node.url}/inbox`, { headers: { cookie } })).status, 200);
  await clock.advance(7 * 24 * 3_600_000);
  assert.equal((await sendRequest(`${node.url}/inbox`, { headers: { cookie } })).status, 401);
  await clock.reset();
});

test('ASVS 3.4.1, 3.4.4: with https, the cookie is Secure and limited to this host', async () => {
  const node = await startTestService({
    databaseUrl,
    environment: { PUBLIC_URL: 'https://mail.shop.test' },
  });
  const entered = await sendRequest((await newLink()).replace(url, node.url));
  const given = entered.headers.get('set-cookie') ?? '';
  assert.match(given, /^__Host-signalpost-inbox=.*; Path=\/; .*Secure/);
});

test('access tokens of the contract never open the inbox', async () => {
  const world = new SessionWorld(database);
  const accountId = await world.addAccount();
  const client = await world.addIntegration();
  const person = await world.addPerson();
  await saveMembership(database.kysely, { accountId, personId: person.id, role: 'owner' });
  await database.pool.query('update person set operator = true where id = $1', [person.id]);
  const { body } = await postToken({ url }, passwordFields(person, client));
  assert.equal(await statusOf({ authorization: `Bearer ${body.access_token}` }), 401);
});

async function signInAs(person: { readonly email: string }): Promise<{ cookie: string }> {
  const browser = new TestBrowser(url);
  await browser.submit(await browser.open('/me'), { email: person.email, password });
  return { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}

test('no account role opens the inbox for a browser: it contains system mail', async () => {
  const world = new SessionWorld(database);
  const statusAs = async (role: 'owner' | 'developer' | 'marketer' | 'viewer'): Promise<number> => {
    const person = await world.addPerson();
    const { accountId } = world;
    await saveMembership(database.kysely, { accountId, personId: person.id, role });
    return statusOf({ host: 'mail.example.com', ...(await signInAs(person)) });
  };
  assert.equal(await statusAs('owner'), 403);
  assert.equal(await statusAs('developer'), 403);
  assert.equal(await statusAs('marketer'), 403);
  assert.equal(await statusAs('viewer'), 403);
});

test('an operator sees all mail, including that of other accounts; a developer in every account does not', async () => {
  const world = new SessionWorld(database, '2000');
  await world.addAccount();
  const person = await world.addPerson();
  const headers = await signInAs(person);
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
  assert.equal(await statusOf(headers), 403);
});

/** How browsers and programs identify themselves, and whether they may change and read. */
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
  test(`${who} ${changes ? 'can' : "can't"} change the inbox and ${reads ? 'can' : "can't"} read it`, async () => {
    const host = `127.0.0.1:${port}`;
    const cookie = await openLink(await newLink());
    const emptied = await statusOf({ ...headers, host, cookie }, '/inbox/empty', 'POST');
    assert.equal(emptied, changes ? 303 : 403);
    const deleted = await statusOf({ ...headers, host, cookie }, '/inbox/api/messages', 'DELETE');
    assert.equal(deleted, changes ? 204 : 403);
    for (const path of ['/inbox', '/inbox/api/messages'])
      assert.equal(await statusOf({ ...headers, host, cookie }, path), reads ? 200 : 403, path);
  });
}
