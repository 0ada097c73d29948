import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Integration } from '../../../src/accounts/oauth/integration-store.ts';
import type { TextResponse } from '../../support/send-request.ts';
import {
  clientSecret,
  openSessionWorld,
  password,
  postToken,
} from '../../support/session-world.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';

const { database, clock, service, world, startOther } = await openSessionWorld({
  movesClock: true,
});
const nodes = [service, await startOther()] as const;
await world.addAccount('2000');
const client = await world.addIntegration();

function request(more: Record<string, string | undefined> = {}): string {
  const parameters = {
    scope: 'PRODUCTION',
    response_type: 'code',
    client_id: client.clientId,
    state: 'a state & more',
    ...more,
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `/authorize?${new URLSearchParams(given as [string, string][])}`;
}

async function signIn(
  email: string,
  address: string,
  origin = service.url,
): Promise<[TestBrowser, VisitedPage]> {
  const browser = new TestBrowser(origin);
  const page = await browser.open(address);
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  return [browser, await browser.submit(page, { email, password })];
}

const signedIn = new TestBrowser(service.url);
await signedIn.submit(await signedIn.open('/sign-in?next=%2Fme'), {
  email: (await world.addPerson()).email,
  password,
});

/** The redirect to the integration for a request that a signed-in person can't decide on. */
async function refusal(address: string): Promise<URL> {
  const page = await signedIn.open(address);
  assert.equal(page.status, 303, page.text);
  return new URL(page.location ?? '');
}

/** Signs in, allows, and returns the redirect to the integration. */
async function allow(
  person: { email: string },
  more: Record<string, string | undefined> = {},
): Promise<URL> {
  const [browser, page] = await signIn(person.email, request(more));
  const response = await browser.submit(page, { decision: 'allow' });
  assert.equal(response.status, 303, response.text);
  return new URL(response.location ?? '');
}

async function codeFor(
  person: { email: string },
  more: Record<string, string | undefined> = {},
): Promise<string> {
  return (await allow(person, more)).searchParams.get('code') ?? '';
}

function exchange(
  code: string,
  more: Record<string, string> = {},
  node: { url: string } = service,
  by: Integration = client,
): Promise<TextResponse> {
  const { redirect_uri: redirectUri = by.redirectUri, ...rest } = more;
  return postToken(node, {
    grant_type: 'authorization_code',
    code,
    client_id: by.clientId,
    client_secret: clientSecret,
    ...(redirectUri === '' ? {} : { redirect_uri: redirectUri }),
    ...rest,
  });
}

async function isAlive(accessToken: unknown): Promise<boolean> {
  const { rows } = await database.pool.query(
    'select from access_token where hash = sha256($1::text::bytea)',
    [String(accessToken)],
  );
  return rows.length === 1;
}

test('4.2: sign-in, consent, and the redirect carries code, the unchanged state and the issuer', async () => {
  const person = await world.addPerson();
  const response = await allow(person);
  assert.equal(response.origin + response.pathname, 'https://localhost/callback');
  assert.deepEqual([...response.searchParams.keys()].sort(), ['code', 'iss', 'state']);
  assert.equal(response.searchParams.get('state'), 'a state & more');
  assert.equal(response.searchParams.get('iss'), service.url);
  assert.match(response.searchParams.get('code') ?? '', /^spc_[A-Za-z0-9_-]{59}$/);
});

test('5.3: the code buys exactly the four fields, and a refresh works after it', async () => {
  const person = await world.addPerson();
  const response = await exchange(await codeFor(person));
  assert.equal(response.status, 200, response.text);
  assert.equal(Object.keys(response.body).length, 4);
  assert.equal(response.body.token_type, 'bearer');
  assert.equal(response.body.expires_in, 3600);
  const refreshed = await postToken(service, {
    grant_type: 'refresh_token',
    refresh_token: String(response.body.refresh_token),
    client_id: client.clientId,
    client_secret: clientSecret,
  });
  assert.equal(refreshed.status, 200);
});

test('4.2: without state, the redirect has none', async () => {
  const response = await allow(await world.addPerson(), { state: undefined });
  assert.equal(response.searchParams.has('state'), false);
});

test('a token of the code grant acts in the account chosen on the consent page', async () => {
  const person = await world.addPerson({ accounts: ['1000', '2000'] });
  const [browser, page] = await signIn(person.email, request());
  assert.match(page.text, /Shop 1000/);
  assert.match(page.text, /Shop 2000/);
  const chosen = await browser.submit(page, { decision: 'allow', account: '2000' });
  const code = new URL(chosen.location ?? '').searchParams.get('code') ?? '';
  const { body } = await exchange(code);
  const { rows } = await database.pool.query(
    'select account_id from access_token where hash = sha256($1::text::bytea)',
    [String(body.access_token)],
  );
  assert.deepEqual(rows, [{ account_id: '2000' }]);
});

test('the consent page is always shown; an earlier consent only preselects', async () => {
  const person = await world.addPerson({ accounts: ['1000', '2000'] });
  const [browser, page] = await signIn(person.email, request());
  assert.equal(page.forms[0]?.fields.account, '1000');
  await browser.submit(page, { decision: 'allow', account: '2000' });
  const again = await browser.open(request());
  assert.equal(again.status, 200);
  assert.match(again.text, /You’ve allowed it before/);
  assert.equal(again.forms[0]?.fields.account, '2000');
});

test("an account that the person doesn't belong to can't be chosen", async () => {
  const person = await world.addPerson();
  const [browser, page] = await signIn(person.email, request());
  const response = await browser.submit(page, { decision: 'allow', account: '2000' });
  assert.equal(response.location, undefined);
  assert.match(response.text, /wants access to your account<\/h1>/);
});

test('RFC 6749 4.1.2.1: declining is access_denied with state and issuer', async () => {
  const [browser, page] = await signIn((await world.addPerson()).email, request());
  const response = new URL((await browser.submit(page, { decision: 'deny' })).location ?? '');
  assert.equal(response.searchParams.get('error'), 'access_denied');
  assert.equal(response.searchParams.get('state'), 'a state & more');
  assert.equal(response.searchParams.get('iss'), service.url);
  assert.equal(response.searchParams.has('code'), false);
});

const reportedErrors: [string, Record<string, string | undefined>, string][] = [
  ['a missing response_type', { response_type: undefined }, 'invalid_request'],
  ['another response_type', { response_type: 'token' }, 'unsupported_response_type'],
  ['a missing scope', { scope: undefined }, 'invalid_scope'],
  ['another scope', { scope: 'admin' }, 'invalid_scope'],
  ['a challenge without a method', { code_challenge: 'x'.repeat(43) }, 'invalid_request'],
  [
    'the method plain',
    { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' },
    'invalid_request',
  ],
  [
    'a challenge that is none',
    { code_challenge: 'short', code_challenge_method: 'S256' },
    'invalid_request',
  ],
];
for (const [what, parameters, error] of reportedErrors) {
  test(`RFC 6749 4.1.2.1: ${what} is reported to the integration as ${error}`, async () => {
    const response = await refusal(request(parameters));
    assert.equal(response.origin + response.pathname, client.redirectUri);
    assert.equal(response.searchParams.get('error'), error);
    assert.equal(response.searchParams.get('state'), 'a state & more');
  });
}

test('an integration without the code grant gets unauthorized_client', async () => {
  const other = await world.addIntegration({ grants: new Set(['password']) });
  const response = await refusal(request({ client_id: other.clientId }));
  assert.equal(response.searchParams.get('error'), 'unauthorized_client');
});

test('unknown and disabled integrations get a page and no redirect', async () => {
  const disabled = await world.addIntegration({ disabled: true });
  for (const clientId of [undefined, '', 'nobody', '<script>', disabled.clientId]) {
    const page = await new TestBrowser(service.url).open(request({ client_id: clientId }));
    assert.equal(page.status, 400);
    assert.equal(page.location, undefined);
    assert.equal(page.text.includes('<script'), false);
  }
});

test('RFC 6749 3.1: repeated parameters are rejected; without a redirect if they determine its target', async () => {
  const open = (more: string) => new TestBrowser(service.url).open(`${request()}&${more}`);
  for (const name of [
    'scope=PRODUCTION',
    'response_type=code',
    'SCOPE=PRODUCTION',
    'other=1&other=2',
  ]) {
    const response = await refusal(`${request()}&${name}`);
    assert.equal(response.searchParams.get('error'), 'invalid_request');
  }
  const state = await refusal(`${request()}&state=b`);
  assert.equal(state.searchParams.has('state'), false);
  for (const name of [`client_id=${client.clientId}`, 'redirect_uri=a&redirect_uri=b'])
    assert.equal((await open(name)).status, 400);
});

test('the page for a redirect URL that isn’t registered shows which one was sent', async () => {
  const sent = `${client.redirectUri}/<b>`;
  const page = await new TestBrowser(service.url).open(request({ redirect_uri: sent }));
  assert.equal(page.status, 400);
  assert.ok(page.text.includes(`“${client.redirectUri}/&#60;b&#62;”`), page.text);
});

test('query parameter names are case-insensitive, and unknown ones are ignored', async () => {
  const address = `/authorize?SCOPE=PRODUCTION&Response_Type=code&Client_ID=${client.clientId}&prompt=none`;
  const [, page] = await signIn((await world.addPerson()).email, address);
  assert.match(page.text, /wants access to your account<\/h1>/);
});

test('5.3: a code works once; a second use revokes what the first issued, including refreshed tokens', async () => {
  const code = await codeFor(await world.addPerson());
  const first = await exchange(code);
  const refreshed = await postToken(service, {
    grant_type: 'refresh_token',
    refresh_token: String(first.body.refresh_token),
    client_id: client.clientId,
    client_secret: clientSecret,
  });
  assert.equal(await isAlive(first.body.access_token), true);
  const second = await exchange(code, {}, nodes[1]);
  assert.equal(second.status, 400);
  assert.equal(second.body.error, 'invalid_grant');
  assert.equal(second.headers.get('www-authenticate'), null);
  assert.equal(await isAlive(first.body.access_token), false);
  assert.equal(await isAlive(refreshed.body.access_token), false);
  const after = await postToken(service, {
    grant_type: 'refresh_token',
    refresh_token: String(refreshed.body.refresh_token),
    client_id: client.clientId,
    client_secret: clientSecret,
  });
  assert.equal(after.body.error, 'invalid_grant');
});

test('a code expires after 60 seconds', async () => {
  const [early, late] = [
    await codeFor(await world.addPerson()),
    await codeFor(await world.addPerson()),
  ];
  await clock.advance(55_000);
  assert.equal((await exchange(early)).status, 200);
  await clock.advance(5_000);
  assert.equal((await exchange(late)).body.error, 'invalid_grant');
});

test('a code of another client is refused, but the attempt neither uses nor revokes it', async () => {
  const code = await codeFor(await world.addPerson());
  const thief = await world.addIntegration();
  assert.equal((await exchange(code, {}, service, thief)).body.error, 'invalid_grant');
  const response = await exchange(code);
  assert.equal(response.status, 200);
  assert.equal((await exchange(code, {}, service, thief)).body.error, 'invalid_grant');
  assert.equal(await isAlive(response.body.access_token), true);
});

test('RFC 6749 4.1.3: the redirect URL of the token request must match the authorization request', async () => {
  const person = await world.addPerson();
  const sent = { redirect_uri: client.redirectUri };
  assert.equal(
    (await exchange(await codeFor(person, sent), { redirect_uri: '' })).body.error,
    'invalid_grant',
  );
  const other = { redirect_uri: 'https://localhost/callback/' };
  const code = await codeFor(person);
  assert.equal((await exchange(code, other)).body.error, 'invalid_grant');
  assert.equal(
    (await exchange(code)).body.error,
    'invalid_grant',
    'a failed check consumes the code',
  );
  assert.equal((await exchange(await codeFor(person), { redirect_uri: '' })).status, 200);
  assert.equal((await exchange(await codeFor(person, sent), sent)).status, 200);
});

test("RFC 7636: S256 is checked, a verifier without a challenge is refused, and a verifier doesn't replace the secret", async () => {
  const person = await world.addPerson();
  const verifier = randomBytes(32).toString('base64url');
  const challenge = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const right = { code_verifier: verifier };
  assert.equal((await exchange(await codeFor(person, challenge), right)).status, 200);
  const wrong = { code_verifier: 'x'.repeat(43) };
  const code = await codeFor(person, challenge);
  assert.equal((await exchange(code, wrong)).body.error, 'invalid_grant');
  assert.equal((await exchange(code, right)).body.error, 'invalid_grant', 'spent');
  assert.equal((await exchange(await codeFor(person, challenge))).body.error, 'invalid_grant');
  assert.equal((await exchange(await codeFor(person), right)).body.error, 'invalid_grant');
  const withoutSecret = await exchange(await codeFor(person, challenge), {
    ...right,
    client_secret: '',
  });
  assert.equal(withoutSecret.body.error, 'invalid_client');
});

test('RFC 7636: an integration that requires PKCE is refused without it', async () => {
  const strict = await world.addIntegration();
  await database.pool.query('update integration set require_pkce = true where client_id = $1', [
    strict.clientId,
  ]);
  const response = await refusal(request({ client_id: strict.clientId }));
  assert.equal(response.searchParams.get('error'), 'invalid_request');
});

test('8: code exchanges count toward the allowance, and a 429 leaves the code unused', async () => {
  const person = await world.addPerson();
  await clock.reset();
  for (let count = 0; count < 5; count += 1)
    assert.equal((await exchange(await codeFor(person))).status, 200);
  const code = await codeFor(person);
  const refused = await exchange(code);
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error, 'slow_down');
  await database.pool.query(
    "update session_pair set initial_requests = '{}' where person_id = $1",
    [person.id],
  );
  assert.equal((await exchange(code)).status, 200);
});

test('of 50 parallel uses of one code on two nodes, exactly one wins', async () => {
  const rounds = Number(process.env.ROUNDS ?? 30);
  let round = 0;
  /** Runs the races of one person in sequence. */
  const race = async (): Promise<void> => {
    const person = await world.addPerson();
    const [browser, page] = await signIn(person.email, request());
    while (round < rounds) {
      round += 1;
      const response = await browser.submit(page, { decision: 'allow' });
      const code = new URL(response.location ?? '').searchParams.get('code') ?? '';
      await database.pool.query(
        "update session_pair set initial_requests = '{}' where person_id = $1",
        [person.id],
      );
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) => exchange(code, {}, nodes[index % 2])),
      );
      assert.equal(responses.filter(({ status }) => status === 200).length, 1);
      // A node can be too busy for some of them.
      const refused = ({ status, body }: (typeof responses)[number]) =>
        status === 503 || body.error === 'invalid_grant';
      assert.equal(responses.filter(refused).length, 49);
    }
  };
  await Promise.all(Array.from({ length: 4 }, race));
});

test('changing the password revokes the person’s codes', async () => {
  const person = await world.addPerson();
  const code = await codeFor(person);
  const { revokePersonTokens: endTokensOfPerson } = await import(
    '../../../src/accounts/oauth/revoke-tokens-store.ts'
  );
  await database.kysely
    .transaction()
    .execute((transaction) => endTokensOfPerson(transaction, person.id));
  assert.equal((await exchange(code)).body.error, 'invalid_grant');
});
