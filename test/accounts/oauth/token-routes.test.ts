import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import {
  clientSecret,
  openSessionWorld,
  password,
  passwordFields,
  postToken,
  refreshFields,
} from '../../support/session-world.ts';

const { database, service, world } = await openSessionWorld();
const person = await world.addPerson();
const client = await world.addIntegration();
const fields = passwordFields(person, client);

function assertError(response: TextResponse, status: number, error: string): void {
  assert.equal(response.body.error, error, response.text);
  assert.equal(response.status, status);
  assert.deepEqual(Object.keys(response.body), ['error', 'error_description']);
  assert.match(String(response.body.error_description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(String(response.headers.get('content-type')), /^application\/json/);
  assert.ok(response.headers.get('x-request-id'));
}

function without(name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function basic(clientId: string, secret: string): Record<string, string> {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  const text = `${encode(clientId)}:${encode(secret)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

test('2.1, 5.2: the password grant returns exactly the four fields, never cached', async () => {
  const response = await postToken(service, fields);
  assert.equal(response.status, 200, response.text);
  assert.deepEqual(Object.keys(response.body).sort(), [
    'access_token',
    'expires_in',
    'refresh_token',
    'token_type',
  ]);
  assert.equal(response.body.token_type, 'bearer');
  assert.equal(response.body.expires_in, 3600);
  assert.match(String(response.body.access_token), /^spa_[A-Za-z0-9_-]{59}$/);
  assert.match(String(response.body.refresh_token), /^spr_[A-Za-z0-9_-]{59}$/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('pragma'), 'no-cache');
});

test('5.4: the refresh grant returns exactly the four fields with a new pair', async () => {
  const someone = await world.addPerson();
  const first = await postToken(service, passwordFields(someone, client));
  const second = await postToken(service, refreshFields(first.body.refresh_token, client));
  assert.equal(second.status, 200, second.text);
  assert.equal(Object.keys(second.body).length, 4);
  assert.notEqual(second.body.access_token, first.body.access_token);
  assert.notEqual(second.body.refresh_token, first.body.refresh_token);
});

test('tokens are stored as SHA-256 only', async () => {
  const someone = await world.addPerson();
  const { body } = await postToken(service, passwordFields(someone, client));
  for (const table of ['session_pair', 'access_token', 'audit_event']) {
    const { rows } = await database.pool.query(`select t::text as row from ${table} t`);
    const text = rows.map((row) => String(row.row)).join('\n');
    for (const token of [body.access_token, body.refresh_token]) {
      assert.equal(text.includes(String(token)), false);
      assert.equal(text.includes(Buffer.from(String(token)).toString('hex')), false);
    }
  }
});

test('a trailing slash and the case of the email address make no difference', async () => {
  const someone = await world.addPerson();
  const upperCased = {
    ...passwordFields(someone, client),
    username: someone.email.toUpperCase(),
  };
  assert.equal((await postToken(service, upperCased, {}, '/token/')).status, 200);
});

test('RFC 6749 2.3.1: HTTP Basic with form-encoded parts is accepted too', async () => {
  const someone = await world.addPerson();
  const form = {
    grant_type: 'password',
    username: someone.email,
    password,
  };
  const headers = basic(client.clientId, clientSecret);
  assert.equal((await postToken(service, form, headers)).status, 200);
  const named = { ...form, client_id: client.clientId };
  assert.equal((await postToken(service, named, headers)).status, 200);
});

test('HTTP Basic without form-encoding, as many clients send it, is accepted too', async () => {
  const form = { grant_type: 'password', username: person.email, password };
  const pair = `${client.clientId}:${clientSecret}`;
  const headers = { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  assert.equal((await postToken(service, form, headers)).status, 200);
});

test('5.1 rule 2: credentials in both header and form are accepted if they agree', async () => {
  const headers = basic(client.clientId, clientSecret);
  assert.equal((await postToken(service, fields, headers)).status, 200);
});

test('5.1 rule 2: with credentials in the form, a header of another scheme is ignored', async () => {
  const other = await world.addIntegration();
  const form = { ...fields, client_id: other.clientId };
  for (const authorization of ['Bearer spa_old', 'Negotiate abc', 'nonsense'])
    assert.equal((await postToken(service, form, { authorization })).status, 200, authorization);
});

test('RFC 6749 2.3.1: differing credentials in header and form are rejected', async () => {
  const headers = basic(client.clientId, clientSecret);
  assertError(
    await postToken(service, { ...fields, client_secret: 'another' }, headers),
    400,
    'invalid_request',
  );
  assertError(
    await postToken(service, fields, basic(client.clientId, 'another')),
    400,
    'invalid_request',
  );
  const other = { ...without('client_secret'), client_id: 'another' };
  assertError(await postToken(service, other, headers), 400, 'invalid_request');
});

for (const name of ['grant_type', 'username', 'password']) {
  test(`5.2: a missing or empty ${name} is an invalid_request`, async () => {
    assertError(await postToken(service, without(name)), 400, 'invalid_request');
    assertError(await postToken(service, { ...fields, [name]: '' }), 400, 'invalid_request');
  });
}

test('5.4: a refresh without its token is an invalid_request', async () => {
  const form = { ...refreshFields('', client) };
  assertError(await postToken(service, form), 400, 'invalid_request');
});

for (const name of ['client_id', 'client_secret']) {
  test(`5.1 rule 2: a missing ${name} is an invalid_client, without a challenge`, async () => {
    for (const form of [without(name), { ...fields, [name]: '' }]) {
      const response = await postToken(service, form);
      assertError(response, 401, 'invalid_client');
      assert.equal(response.headers.get('www-authenticate'), null);
    }
  });
}

test('unknown clients, wrong secrets and disabled integrations get the same invalid_client', async () => {
  const disabled = await world.addIntegration({ disabled: true });
  const responses = await Promise.all(
    [
      { ...fields, client_id: 'nobody' },
      { ...fields, client_id: 'not even an id \u{1F600}' },
      { ...fields, client_secret: 'wrong' },
      { ...fields, client_id: disabled.clientId },
    ].map((form) => postToken(service, form)),
  );
  for (const response of responses) assertError(response, 401, 'invalid_client');
  assert.equal(new Set(responses.map((response) => response.text)).size, 1);
});

test('RFC 6749 5.2: a client that failed by header gets a challenge for its scheme', async () => {
  const form = { grant_type: 'password', username: person.email, password };
  const headers = [
    basic(client.clientId, 'wrong'),
    { authorization: 'Bearer abc' },
    { authorization: 'Basic ???' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: `Basic ${Buffer.from('bad%2:encoding').toString('base64')}` },
    { authorization: `Basic ${Buffer.from(`${client.clientId}:`).toString('base64')}` },
  ];
  for (const header of headers) {
    const response = await postToken(service, form, header);
    assertError(response, 401, 'invalid_client');
    assert.match(String(response.headers.get('www-authenticate')), /^Basic realm=/);
  }
});

test('wrong password, unknown user, no password and disabled user get the same invalid_grant, without a challenge', async () => {
  const disabled = await world.addPerson();
  await database.pool.query('update person set disabled_at = now() where id = $1', [disabled.id]);
  const bare = await world.addPerson({ withoutPassword: true });
  const responses = await Promise.all(
    [
      { ...fields, password: 'wrong' },
      { ...fields, username: 'nobody@shop.test' },
      { ...fields, username: `${'x'.repeat(3_000)}@shop.test` },
      passwordFields(disabled, client),
      passwordFields(bare, client),
    ].map((form) => postToken(service, form)),
  );
  for (const response of responses) {
    assertError(response, 400, 'invalid_grant');
    assert.equal(response.headers.get('www-authenticate'), null);
  }
  assert.equal(new Set(responses.map((response) => response.text)).size, 1);
});

test('5.4: an unknown, forged or foreign refresh token is an invalid_grant', async () => {
  const someone = await world.addPerson();
  const { body } = await postToken(service, passwordFields(someone, client));
  const other = await world.addIntegration();
  const token = String(body.refresh_token);
  for (const form of [
    refreshFields('nonsense', client),
    refreshFields(body.access_token, client),
    refreshFields(`${token.slice(0, -1)}${token.endsWith('_') ? '-' : '_'}`, client),
    refreshFields(body.refresh_token, other),
  ]) {
    const response = await postToken(service, form);
    assertError(response, 400, 'invalid_grant');
    assert.equal(response.headers.get('www-authenticate'), null);
  }
  assert.equal(
    (await postToken(service, refreshFields(body.refresh_token, client))).status,
    200,
    "another client's attempt doesn't use up the token",
  );
});

test('a grant that the integration is not registered for is an unauthorized_client', async () => {
  const codeOnly = await world.addIntegration({ grants: new Set(['authorization_code']) });
  const response = await postToken(service, passwordFields(person, codeOnly));
  assertError(response, 400, 'unauthorized_client');
  assertError(await postToken(service, refreshFields('x', codeOnly)), 400, 'unauthorized_client');
});

test('a grant type that does not exist is an unsupported_grant_type', async () => {
  for (const grant of ['client_credentials', 'PASSWORD', '__proto__', 'constructor']) {
    const response = await postToken(service, { ...fields, grant_type: grant });
    assertError(response, 400, 'unsupported_grant_type');
  }
});

test('PRODUCTION is the only scope; any other is an invalid_scope', async () => {
  const someone = await world.addPerson();
  const form = passwordFields(someone, client);
  assertError(await postToken(service, { ...form, scope: 'admin' }), 400, 'invalid_scope');
  const response = await postToken(service, { ...form, scope: 'PRODUCTION' });
  assert.equal(response.status, 200);
  assert.equal('scope' in response.body, false);
});

test('RFC 6749 3.2: a repeated parameter is an invalid_request, even if unknown or identical', async () => {
  for (const name of [...Object.keys(fields), 'scope', 'other']) {
    const value = (fields as Record<string, string>)[name] ?? 'x';
    const pairs: [string, string][] = [
      ...Object.entries(without(name)),
      [name, value],
      [name, value],
    ];
    assertError(await postToken(service, pairs), 400, 'invalid_request');
  }
});

test('RFC 6749 3.2: unknown parameters are ignored', async () => {
  const someone = await world.addPerson();
  const form = { ...passwordFields(someone, client), audience: 'x', 'client_id[]': 'y' };
  assert.equal((await postToken(service, form)).status, 200);
});

test('a body that is not a form is an invalid_request', async () => {
  const send = (type: string | undefined, body: string | Buffer) =>
    sendRequest(`${service.url}/token`, {
      method: 'POST',
      headers: type === undefined ? {} : { 'content-type': type },
      body,
    });
  const form = new URLSearchParams(fields).toString();
  const responses = [
    await send('application/json', JSON.stringify(fields)),
    await send('application/json', '{"grant_type":'),
    await send('text/plain', form),
    await send('multipart/form-data; boundary=x', form),
    await send('nonsense', form),
    await send('application/x-www-form-urlencoded', `${form}&a=%zz`),
    await send('application/x-www-form-urlencoded', `${form}&a=%ff`),
    await send('application/x-www-form-urlencoded', `${form}&a=%00`),
    await send('application/x-www-form-urlencoded', `${form}&a=${'x'.repeat(20_000)}`),
    await send('application/json', JSON.stringify({ ...fields, a: 'x'.repeat(300_000) })),
  ];
  for (const response of responses) assertError(response, 400, 'invalid_request');
});

test('a form with a charset is accepted, and a missing body is an empty form', async () => {
  const someone = await world.addPerson();
  const typed = await postToken(service, passwordFields(someone, client), {
    'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
  });
  assert.equal(typed.status, 200, typed.text);
  assertError(await sendRequest(`${service.url}/token`, { method: 'POST' }), 401, 'invalid_client');
  const empty = basic(client.clientId, clientSecret);
  assertError(await postToken(service, {}, empty), 400, 'invalid_request');
});

test('4.1: grant_type may stand in the query where the form has none, and nothing else is read from there', async () => {
  const someone = await world.addPerson();
  const { grant_type: _, ...rest } = passwordFields(someone, client);
  for (const name of ['grant_type', 'GRANT_TYPE']) {
    const response = await postToken(service, rest, {}, `/token?${name}=password&scope=OTHER`);
    assert.equal(response.status, 200, response.text);
  }
  const inForm = await postToken(
    service,
    passwordFields(someone, client),
    {},
    '/token?grant_type=other',
  );
  assert.equal(inForm.status, 200, inForm.text);
  const unknown = await postToken(service, rest, {}, '/token?grant_type=other');
  assertError(unknown, 400, 'unsupported_grant_type');
  for (const query of ['', '?grant_type=', '?grant_type=password&grant_type=password'])
    assertError(await postToken(service, rest, {}, `/token${query}`), 400, 'invalid_request');
});

test('RFC 6749 2.3.1: credentials in the query string are rejected', async () => {
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'grant_type') continue;
    const query = new URLSearchParams({ [name]: value });
    const response = await postToken(service, fields, {}, `/token?${query}`);
    assertError(response, 400, 'invalid_request');
  }
});

test('RFC 6749 3.2: the token endpoint accepts POST only', async () => {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const response = await sendRequest(`${service.url}/token`, { method });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'POST');
  }
});

test('users of a suspended account still get tokens', async () => {
  await world.addAccount('2000', true);
  const someone = await world.addPerson({ accounts: ['2000'] });
  assert.equal((await postToken(service, passwordFields(someone, client))).status, 200);
});

test('a disabled user can no longer refresh', async () => {
  const someone = await world.addPerson();
  const { body } = await postToken(service, passwordFields(someone, client));
  await database.pool.query('update person set disabled_at = now() where id = $1', [someone.id]);
  const response = await postToken(service, refreshFields(body.refresh_token, client));
  assertError(response, 400, 'invalid_grant');
});

test('the order of checks: query, client, grant type, grant of the client, scope, then the grant', async () => {
  const codeOnly = await world.addIntegration({ grants: new Set(['authorization_code']) });
  const wrong = { client_secret: 'no', grant_type: 'no', scope: 'no', password: 'no' };
  const all = { ...fields, ...wrong };
  const secret = { client_secret: clientSecret };
  const steps: [Record<string, string>, string, string?][] = [
    [all, 'invalid_request', '/token?client_secret=x'],
    [all, 'invalid_client'],
    [{ ...all, ...secret }, 'unsupported_grant_type'],
    [
      { ...all, ...secret, grant_type: 'password', client_id: codeOnly.clientId },
      'unauthorized_client',
    ],
    [{ ...all, ...secret, grant_type: 'password' }, 'invalid_scope'],
    [{ ...all, ...secret, grant_type: 'password', scope: 'PRODUCTION' }, 'invalid_grant'],
  ];
  for (const [form, error, path] of steps)
    assert.equal((await postToken(service, form, {}, path)).body.error, error);
});

test('a known client that fails to authenticate is recorded at most once a minute, without its secret', async () => {
  const other = await world.addIntegration();
  const wrong = { ...passwordFields(person, other), client_secret: 'a wrong secret' };
  for (let count = 0; count < 5; count += 1) await postToken(service, wrong);
  const { rows } = await database.pool.query(
    'select kind, outcome, detail, remote_address from audit_event where client_id = $1',
    [other.clientId],
  );
  assert.deepEqual(rows, [
    {
      kind: 'client_authentication',
      outcome: 'refused',
      detail: { reason: 'wrong secret' },
      remote_address: '127.0.0.1',
    },
  ]);
});

testAccountFirst(5);
