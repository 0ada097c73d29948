import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import {
  clientSecret,
  openSessionWorld,
  passwordFields,
  postToken,
  refreshFields,
} from '../../support/session-world.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, world, startOther } = await openSessionWorld();
const nodes = [service, await startOther()] as const;
const client = await world.addIntegration();
const person = await world.addPerson();

function about(
  path: string,
  token: unknown,
  by: { clientId: string } = client,
  more: Record<string, string> = {},
): Promise<TextResponse> {
  const credentials = { client_id: by.clientId, client_secret: clientSecret };
  return postToken(service, { token: String(token), ...credentials, ...more }, {}, path);
}

async function tokens(): Promise<Record<string, unknown>> {
  await database.pool.query("update session_pair set initial_requests = '{}'");
  return (await postToken(service, passwordFields(person, client))).body;
}

/** Whether a node accepts a token. */
async function isAccepted(node: { url: string }, accessToken: unknown): Promise<boolean> {
  const headers = { authorization: `Bearer ${String(accessToken)}` };
  return (await sendRequest(`${node.url}/api/1/list`, { headers })).status !== 401;
}

test("RFC 7662 2.2: introspection describes a client's own live tokens", async () => {
  const { access_token: access, refresh_token: refresh } = await tokens();
  const { body } = await about('/introspect', access);
  const issuedAt = Number(body.iat);
  assert.ok(Math.abs(Date.now() / 1000 - issuedAt) < 60);
  assert.deepEqual(body, {
    active: true,
    scope: 'PRODUCTION',
    client_id: client.clientId,
    username: person.email,
    sub: person.id,
    iss: service.url,
    token_type: 'bearer',
    iat: issuedAt,
    exp: issuedAt + 3600,
  });
  const about2 = await about('/introspect', refresh);
  assert.equal(about2.body.active, true);
  assert.equal(about2.body.token_type, 'refresh_token');
  assert.equal(about2.headers.get('cache-control'), 'no-store');
});

test('RFC 7662 2.2: for other tokens, it says only that they are not active', async () => {
  const { access_token: access, refresh_token: refresh } = await tokens();
  const other = await world.addIntegration();
  const spent = await postToken(service, refreshFields(refresh, client));
  assert.equal(spent.status, 200);
  for (const [token, by] of [
    [access, other],
    [refresh, client],
    [spent.body.refresh_token, other],
    ['nonsense', client],
  ] as const)
    assert.equal((await about('/introspect', token, by)).text, '{"active":false}');
});

test('RFC 7009 2.1: a revoked access token ends on every node within a second; its refresh token stays live', async () => {
  const { access_token: access, refresh_token: refresh } = await tokens();
  for (const node of nodes) assert.equal(await isAccepted(node, access), true);
  const response = await about('/revoke', access, client, { token_type_hint: 'refresh_token' });
  assert.equal(response.status, 200);
  assert.equal(response.text, '{}');
  for (const node of nodes)
    await waitFor('the token to end', async () => !(await isAccepted(node, access)), 1_000);
  assert.equal((await postToken(service, refreshFields(refresh, client))).status, 200);
});

test('RFC 7009 2.1: revoking a refresh token ends its access tokens too', async () => {
  const { access_token: access, refresh_token: refresh } = await tokens();
  for (const node of nodes) assert.equal(await isAccepted(node, access), true);
  assert.equal((await about('/revoke', refresh)).status, 200);
  for (const node of nodes)
    await waitFor('the token to end', async () => !(await isAccepted(node, access)), 1_000);
  assert.equal(
    (await postToken(service, refreshFields(refresh, client))).body.error,
    'invalid_grant',
  );
});

test('RFC 7009 2.2: unknown tokens and those of others get the same 200 and are not affected', async () => {
  const { access_token: access, refresh_token: refresh } = await tokens();
  const other = await world.addIntegration();
  for (const token of [access, refresh, 'nonsense'])
    assert.equal((await about('/revoke', token, other)).status, 200);
  assert.equal(await isAccepted(service, access), true);
  assert.equal((await about('/introspect', refresh)).body.active, true);
});

test('both endpoints require the client’s credentials and a token', async () => {
  for (const path of ['/revoke', '/introspect', '/revoke/', '/introspect/']) {
    assert.equal((await postToken(service, { token: 'x' }, {}, path)).body.error, 'invalid_client');
    assert.equal((await about(path, '')).body.error, 'invalid_request');
  }
});

test('RFC 8414 3.2: the metadata names every endpoint under the issuer', async () => {
  const { body } = await sendRequest(`${service.url}/.well-known/oauth-authorization-server`);
  assert.equal(body.issuer, service.url);
  for (const name of ['authorization', 'token', 'revocation', 'introspection']) {
    const address = String(body[`${name}_endpoint`]);
    assert.ok(address.startsWith(`${service.url}/`));
    assert.notEqual(
      (await sendRequest(address, { method: name === 'authorization' ? 'GET' : 'POST' })).status,
      404,
    );
  }
  assert.deepEqual(body.code_challenge_methods_supported, ['S256']);
  assert.equal(body.authorization_response_iss_parameter_supported, true);
});
