import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keyScopes, permissionsOf } from '../../../src/accounts/access/permission.ts';
import { tokenOperations } from '../../../src/accounts/access/token-operations.ts';
import { type Role, roles } from '../../../src/accounts/account/account.ts';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { addKey } from '../../support/api-key.ts';
import { tokenByConsent } from '../../support/consent.ts';
import { goodBody } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { passwordFields, postToken, SessionWorld } from '../../support/session-world.ts';
import { addSender, openShop } from '../../support/shop.ts';
import { startTestService } from '../../support/test-service.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';

const { databaseUrl, database, service, shop } = await openSharedShop({ worker: false });
const otherShop = await openShop(database, { id: newAccountId() });
const world = new SessionWorld(database, shop.id);

type OperationName = keyof typeof tokenOperations;
const operationNames = Object.keys(tokenOperations) as OperationName[];

/** Calls an operation; an unknown message or template is enough to see whether the caller has access. */
function call(
  operation: OperationName,
  credential: string,
  account: string = shop.id,
): Promise<TextResponse> {
  const headers = { authorization: `Bearer ${credential}` };
  if (operation === 'list')
    return sendRequest(`${service.url}/api/1/list`, {
      headers: { ...headers, 'x-account-id': account },
    });
  if (operation === 'status')
    return sendRequest(
      `${service.url}/ete/v1/message/${account}/019a0000-0000-7000-8000-000000000000`,
      {
        headers,
      },
    );
  const isBatch = operation === 'batch';
  return sendRequest(`${service.url}/ete/v1/email/${account}/t-0001${isBatch ? '/batch' : ''}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(isBatch ? { messages: [goodBody()] } : goodBody()),
  });
}

function assertAllowed(operation: OperationName, response: TextResponse): void {
  // An unknown message is an Invalid ID for another field than an unknown account.
  if (operation === 'status') {
    assert.equal(response.status, 400, response.text);
    assert.match(response.text, /"field":"messageId"/);
  } else assert.equal(response.status, 200, response.text);
}

function lacksScope(response: TextResponse): void {
  assert.equal(response.status, 401, response.text);
  assert.equal(response.body.message, 'Unauthorized Request');
  assert.equal(
    response.headers.get('www-authenticate'),
    'Bearer realm="signalpost", error="insufficient_scope"',
  );
}

async function tokensOf(role: Role): Promise<ReadonlyMap<string, string>> {
  const person = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId: shop.id, personId: person.id, role });
  const response = await postToken(service, passwordFields(person, shop.integration));
  const integration = await world.addIntegration();
  return new Map([
    ['password', String(response.body.access_token)],
    ['authorization_code', await tokenByConsent(service, person.email, integration, shop.id)],
  ]);
}

describe('ASVS 4.0.3 4.1.1 and 4.1.3: who can use the operations of the contract', () => {
  for (const role of roles)
    test(`a token of each grant allows a ${role} what the role allows`, async () => {
      for (const [grant, token] of await tokensOf(role))
        for (const operation of operationNames) {
          const response = await call(operation, token);
          const { permission } = tokenOperations[operation];
          if (permissionsOf[role].has(permission)) assertAllowed(operation, response);
          else lacksScope(response);
          assert.ok(grant);
        }
    });

  test('owners, developers and service users can send and read the status', () => {
    const senders = roles.filter((role) => permissionsOf[role].has('messages:send'));
    assert.deepEqual(senders, ['owner', 'developer', 'service']);
    assert.deepEqual(
      roles.filter((role) => permissionsOf[role].has('messages:status')),
      senders,
    );
  });

  for (const operation of operationNames)
    test(`an API key allows ${operation} with exactly the scope for it`, async () => {
      const { permission } = tokenOperations[operation];
      assertAllowed(
        operation,
        await call(operation, await addKey(database, shop.id, { scopes: [permission] })),
      );
      const others = keyScopes.filter((scope) => scope !== permission);
      lacksScope(await call(operation, await addKey(database, shop.id, { scopes: others })));
    });

  test('an API key works for its own account only; other accounts look nonexistent', async () => {
    const key = await addKey(database, shop.id);
    const other = await call('send', key, otherShop.id);
    const none = await call('send', key, '46999');
    assert.equal(other.status, 400);
    assert.deepEqual({ ...other.body, requestId: '' }, { ...none.body, requestId: '' });
    assert.equal((await call('list', key, otherShop.id)).status, 400);
  });
});

describe('API keys on the send operation', () => {
  const send = (key: string, template = 't-0001', headers: Record<string, string> = {}) =>
    sendRequest(`${service.url}/ete/v1/email/${shop.id}/${template}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(goodBody()),
    });

  test('an expired key, one with a wrong checksum and one of another account are 401, invalid_token', async () => {
    const expired = await addKey(database, shop.id, { expiresAt: new Date(Date.now() - 1_000) });
    const key = await addKey(database, shop.id);
    const forged = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const otherAccountKey = key.replace(`sp_${shop.id}_`, `sp_${otherShop.id}_`);
    for (const wrong of [expired, forged, otherAccountKey, 'sp_', `sp_${shop.id}__`]) {
      const response = await send(wrong);
      assert.equal(response.status, 401, wrong);
      assert.equal(
        response.headers.get('www-authenticate'),
        'Bearer realm="signalpost", error="invalid_token"',
      );
    }
  });

  test('a missing token has no error code', async () => {
    const response = await sendRequest(`${service.url}/ete/v1/email/${shop.id}/t-0001`, {
      method: 'POST',
    });
    assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="signalpost"');
  });

  test("a key limited to templates can't find any other, as if it did not exist", async () => {
    const key = await addKey(database, shop.id, {
      scopes: ['messages:send'],
      templates: ['t-0009'],
    });
    const response = await send(key);
    assert.equal(response.status, 400);
    assert.equal(response.body.errorName, 'INVALID_ID');
    const allowed = await addKey(database, shop.id, {
      scopes: ['messages:send'],
      templates: ['t-0001'],
    });
    assert.equal((await send(allowed)).status, 200);
  });

  test('a key limited to networks works only from those networks', async () => {
    const behind = await startTestService({
      databaseUrl,
      worker: false,
      environment: { TRUST_PROXY: '127.0.0.1' },
    });
    const key = await addKey(database, shop.id, { networks: ['192.0.2.0/24', '2001:db8::/48'] });
    const from = (address: string) =>
      sendRequest(`${behind.url}/ete/v1/email/${shop.id}/t-0001`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-forwarded-for': address,
        },
        body: JSON.stringify(goodBody()),
      });
    for (const address of ['192.0.2.9', '2001:db8:0:1::9', '::ffff:192.0.2.9'])
      assert.equal((await from(address)).status, 200, address);
    for (const address of ['192.0.3.9', '2001:db9::1', '::ffff:192.0.3.9'])
      lacksScope(await from(address));
    // The header is ignored unless a trusted proxy sent it.
    lacksScope(await send(key, 't-0001', { 'x-forwarded-for': '192.0.2.9' }));
  });

  test('a message sent with a key names the key instead of an integration', async () => {
    await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
    const key = await addKey(database, shop.id, { scopes: ['messages:send'] });
    const { body } = await send(key);
    const { rows } = await database.pool.query(
      `select k.id::text = m.client_id as named from message m, api_key k
       where m.id = $1 and k.account_id = m.account_id and k.scopes = '{messages:send}' and k.templates is null
       order by k.id desc limit 1`,
      [body.messageId],
    );
    assert.equal(rows[0]?.named, true);
  });
});
