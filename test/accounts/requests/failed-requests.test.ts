import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFailures, maxFailures } from '../../../src/accounts/requests/failed-request-store.ts';
import { toStoredFailure } from '../../../src/accounts/requests/failed-requests.ts';
import type { FaultDetail } from '../../../src/base/values/errors.ts';
import { type ClientId, newId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { deleteOldData } from '../../../src/outcomes/retention/delete-old-data.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient, openManagedShop } from '../../support/management-client.ts';
import { bodyWith, goodBody, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, as, shop, token } = await openSharedShop();
const otherId = newAccountId();
const other = await openManagedShop(database, service, otherId);

interface Failure {
  readonly id: string;
  readonly at: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly error: string;
  readonly details: readonly { readonly field: string; readonly reason: string }[];
}

async function list(query = '', manager = owner, account = path): Promise<readonly Failure[]> {
  const response = await manager.get(`${account}/failed-requests${query}`);
  assert.equal(response.status, 200, response.text);
  return response.body.items as unknown as Failure[];
}

/** The failure with the request ID of a response. */
function find(requestId: unknown): Promise<Failure> {
  return waitFor('the failure', async () => (await list()).find(({ id }) => id === requestId));
}

/** Waits until everything that failed before is written. */
async function settle(): Promise<void> {
  const { body } = await new SendClient(service, await addKey(database, shop.id), shop.id).send({
    template: 'none',
  });
  await find(body.requestId);
}

test('a refused send is listed with its key, route, status, error and fields, without values', async () => {
  const key = await addKey(database, shop.id);
  const sender = new SendClient(service, key, shop.id);
  const body = bodyWith({
    envelope: { toAddress: 'ada lovelace@people.test', 'eve@people.test': 1 },
  });
  const { body: answer, status } = await sender.send({ body });
  assert.equal(status, 400);
  const { at, clientId, details, ...failure } = await find(answer.requestId);
  assert.deepEqual(failure, {
    id: answer.requestId,
    clientName: 'Test',
    method: 'POST',
    route: '/ete/v1/email/:accountId/:templateId',
    status: 400,
    error: 'VALIDATION_FAILED',
  });
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
  assert.match(clientId, /^[0-9a-f-]{36}$/);
  const fields = details.map(({ field }) => field);
  assert.ok(fields.includes('envelope.toAddress'), JSON.stringify(details));
  assert.doesNotMatch(JSON.stringify(details), /people\.test|lovelace/);
});

test('values that a reason has aren’t kept: quotes, addresses, also where it is cut off, each detail once', () => {
  const owner = { accountId: shop.id, clientId: 'c' as ClientId };
  const kept = (...details: readonly FaultDetail[]) =>
    toStoredFailure(
      {
        requestId: newId(),
        method: 'POST',
        route: '/',
        accountId: shop.id,
        status: 400,
        error: 'VALIDATION_FAILED',
        details,
        credential: owner,
      },
      owner,
    ).details;
  const reasonOf = (reason: string) => kept({ field: 'a', reason })[0]?.reason;
  const value = 'private '.repeat(40);
  assert.equal(reasonOf(`has "${value}" and “${value}” twice`), 'has … twice');
  assert.equal(
    reasonOf('has the kind "a\\"secret 4711", which is unknown'),
    'has the kind …, which is unknown',
  );
  assert.equal(reasonOf(`has “${value}`), 'has …');
  assert.match(reasonOf(`is ada@people.test, or ${'x'.repeat(300)}`) ?? '', /^is … or x{100,200}$/);
  assert.equal(reasonOf('is not an address: it has no @'), 'is not an address: it has no @');
  for (let length = 1; length < 230; length += 1) {
    const cut = reasonOf(`${'y'.repeat(length)} katherine.johnson@people.test`);
    assert.doesNotMatch(cut ?? '', /kath|people/, `after ${length}`);
  }
  const long = reasonOf(`${'z '.repeat(1_995)}katherine.johnson.of.the.institute@people.test`);
  assert.doesNotMatch(long ?? '', /kath/);
  assert.deepEqual(
    kept({ field: 'a@x.test', reason: 'is unknown' }, { field: 'b@x.test', reason: 'is unknown' }),
    [{ field: '…', reason: 'is unknown' }],
  );
});

test('an accepted request isn’t listed, and neither is one without a valid credential', async () => {
  const key = await addKey(database, shop.id);
  const accepted = await new SendClient(service, key, shop.id).send();
  assert.equal(accepted.status, 200, accepted.text);
  const forged = `${key.slice(0, -6)}aaaaaa`;
  for (const credential of [undefined, forged, 'x']) {
    const refused = await new SendClient(service, key, shop.id).send({ token: credential });
    assert.equal(refused.status, 401);
  }
  const before = (await list()).length;
  await settle();
  assert.equal((await list()).length, before + 1);
});

test('a request for a foreign account belongs to the account of its key', async () => {
  const key = await addKey(database, shop.id);
  const { body } = await new SendClient(service, key, otherId).send();
  const { error } = await find(body.requestId);
  assert.equal(error, 'INVALID_ID');
  const manager = new ManagementClient(service, key);
  const hidden = await manager.get(`${other.path}/senders`);
  assert.equal(hidden.status, 404);
  const found = await find(hidden.body.requestId);
  assert.equal(found.route, '/manage/v1/accounts/:accountId/senders');
  assert.deepEqual(await list('', other.owner, other.path), []);
});

test('what the management API, the list operations and access tokens are refused is listed, too', async () => {
  const weak = new ManagementClient(
    service,
    await addKey(database, shop.id, { scopes: ['messages:read'] }),
  );
  const forbidden = await weak.put(`${path}/senders/a@shop.test`, {});
  const invalid = await new ManagementClient(service, await addKey(database, shop.id)).put(
    `${path}/lists/news`,
    { nam: 'News' },
  );
  const listing = await sendRequest(`${service.url}/api/1/list`, {
    headers: {
      authorization: `Bearer ${await addKey(database, shop.id)}`,
      'x-account-id': otherId,
    },
  });
  const byToken = await new SendClient(service, token, shop.id).send({ template: 'none' });
  const id = (response: typeof listing) =>
    response.body.requestId ?? response.headers.get('x-request-id');
  const rows = await Promise.all(
    [forbidden, invalid, listing, byToken].map((one) => find(id(one))),
  );
  assert.deepEqual(
    rows.map(({ status, error }) => [status, error]),
    [
      [403, 'forbidden'],
      [422, 'validation-failed'],
      [400, 'INVALID_PARAMETER'],
      [400, 'INVALID_ID'],
    ],
  );
  assert.match(rows[3]?.clientName ?? '', /^Integration/);
});

test('a drop-in’s refusal has the provider’s members, also of a call that isn’t supported', async () => {
  const authorization = `Bearer ${await addKey(database, shop.id)}`;
  const ask = (call: string, body: object) =>
    sendRequest(`${service.url}/resend${call}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const noTo = await ask('/emails', { from: 'Shop <news@shop.test>', subject: 'A' });
  const unknown = await ask('/contacts/ada%40people.test', {});
  const [first, second] = await Promise.all(
    [noTo, unknown].map(({ headers }) => find(headers.get('x-request-id'))),
  );
  assert.equal(first?.route, '/resend/emails');
  assert.deepEqual(first?.details[0], { field: 'to', reason: 'is required' });
  assert.equal(second?.error, 'UNSUPPORTED_CALL');
  assert.equal(second?.route, '/resend/*');
  assert.doesNotMatch(JSON.stringify(second), /people/);
});

test('failures are found by key and error, page by page, newest first', async () => {
  const text = await addKey(database, shop.id);
  const sender = new SendClient(service, text, shop.id);
  const ids: unknown[] = [];
  for (const template of ['no-1', 'no-2', 'no-3'])
    ids.unshift((await sender.send({ template })).body.requestId);
  const { clientId } = await find(ids[0]);
  await sender.send({ body: { ...goodBody(), envelope: {} } });
  await settle();
  const query = `?clientId=${clientId}&error=INVALID_ID&limit=2`;
  const page = await owner.get(`${path}/failed-requests${query}`);
  const rest = await list(`${query}&cursor=${page.body.nextCursor}`);
  const shown = [...(page.body.items as unknown as Failure[]), ...rest].map(({ id }) => id);
  assert.deepEqual(shown, ids);
});

test('a viewer reads them; a key without messages:read and strangers don’t', async () => {
  const get = (manager: ManagementClient) => manager.get(`${path}/failed-requests`);
  assert.equal((await get(await as('viewer'))).status, 200);
  assert.equal((await get(await as(undefined))).status, 404);
  const scopes = ['messages:send'] as const;
  const weak = new ManagementClient(service, await addKey(database, shop.id, { scopes }));
  assert.equal((await get(weak)).status, 403);
});

test('one account’s flood is cut, and others’ failures are kept', async () => {
  const flood = new SendClient(service, await addKey(database, shop.id), shop.id);
  const calm = new SendClient(service, await addKey(database, other.shop.id), otherId);
  const flooding = Array.from({ length: 1_200 }, () => flood.send({ template: 'none' }));
  const { body } = await calm.send({ template: 'none' });
  await Promise.all(flooding);
  await waitFor('the calm account’s failure', async () =>
    (await list('', other.owner, other.path)).some(({ id }) => id === body.requestId),
  );
});

test('an account has 10,000, for 30 days; the oldest go', async () => {
  const failure = () => ({
    accountId: other.shop.id,
    id: newId(),
    clientId: 'c' as ClientId,
    method: 'POST',
    route: '/',
    status: 400,
    error: 'VALIDATION_FAILED',
    details: [],
  });
  const oldest = failure();
  await addFailures(database.kysely, [oldest]);
  await addFailures(database.kysely, Array.from({ length: maxFailures - 1 }, failure));
  const count = async (where = '') => {
    const { rows } = await database.pool.query(
      `select count(*)::int as count, bool_or(id = $1) as oldest from failed_request where account_id = '${otherId}' ${where}`,
      [oldest.id],
    );
    return rows[0];
  };
  await addFailures(database.kysely, [failure()]);
  assert.deepEqual(await count(), { count: maxFailures, oldest: false });
  await database.pool.query(
    `update failed_request set at = now() - interval '31 days' where id in (select id from failed_request where account_id = '${otherId}' limit 6000)`,
  );
  await deleteOldData(database, createLog('silent'));
  assert.equal((await count()).count, maxFailures - 6_000);
});
