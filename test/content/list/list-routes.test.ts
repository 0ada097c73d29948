import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { removeMembership } from '../../../src/accounts/account/membership-store.ts';
import type { AccountId, ListId } from '../../../src/base/values/ids.ts';
import { saveContacts, saveList } from '../../../src/content/list/list-store.ts';
import { listFlags } from '../../../src/content/list/listing-schema.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { passwordFields, postToken, SessionWorld } from '../../support/session-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { changeTimeoutMs } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url, database } = await createTestDatabase();
const world = new SessionWorld(database);
const node = await startTestService({ databaseUrl: url });
const first = await world.addAccount('1000');
const second = await world.addAccount('2000');
const empty = await world.addAccount('3000');
const client = await world.addIntegration();

before(async () => {
  for (const number of [1, 2, 3, 4, 5]) await addList(first, `l-000${number}`);
  await addList(second, 'l-0009');
  const rows = [
    { email: 'ada@people.test', fields: { City: 'London' } },
    { email: 'alan@people.test', fields: { City: '' } },
  ];
  await saveContacts(
    database.kysely,
    { accountId: first, id: 'l-0001' as ListId },
    { rows, contentHash: Buffer.alloc(32) },
    true,
  );
});

async function addList(accountId: AccountId, id: string): Promise<void> {
  await saveList(database.kysely, {
    accountId,
    id: id as ListId,
    name: `List ${id}`,
    folderName: 'Shop',
    description: 'Customers',
  });
}

async function tokenFor(accounts: readonly string[]): Promise<string> {
  const person = await world.addPerson({ accounts });
  const response = await postToken(node, passwordFields(person, client));
  assert.equal(response.status, 200);
  return String(response.body.access_token);
}

function list(
  token: string,
  query = '',
  headers: Record<string, string> = {},
): Promise<TextResponse> {
  return sendRequest(`${node.url}/api/1/list${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
}

describe('GET /api/1/list', () => {
  test("4.4: the response contains the account's lists and the integer totalCount", async () => {
    const response = await list(await tokenFor([first]));
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    const { count, offset, totalCount, result } = response.body;
    assert.deepEqual({ count, offset, totalCount }, { count: 100, offset: 0, totalCount: 5 });
    assert.ok(Array.isArray(result));
    const { tsCreated, tsLastModified, ...rest } = result[0];
    assert.deepEqual(rest, {
      id: 'l-0001',
      name: 'List l-0001',
      folderName: 'Shop',
      description: 'Customers',
      sourceId: 'l-0001',
      baseId: 'l-0001',
      sourceName: 'List l-0001',
      sourceSize: 2,
      sourceTS: tsLastModified,
      tsSource: tsLastModified,
      tsLastCounted: tsLastModified,
      ...listFlags,
    });
    assert.ok(Number.isInteger(tsCreated) && Number.isInteger(tsLastModified));
    assert.deepEqual(
      Object.keys(listFlags).filter((flag) => result[0][flag] === true),
      ['bIsList'],
    );
    assert.deepEqual(
      result.map(({ id }) => id),
      ['l-0001', 'l-0002', 'l-0003', 'l-0004', 'l-0005'],
    );
  });

  test('4.4: totalCount counts the whole account, whatever the page', async () => {
    const token = await tokenFor([first]);
    const page = await list(token, '?Count=2&OFFSET=3');
    assert.deepEqual(
      (page.body.result as { id: string }[]).map(({ id }) => id),
      ['l-0004', 'l-0005'],
    );
    assert.equal(page.body.totalCount, 5);
    const past = await list(token, '?offset=50');
    assert.deepEqual(past.body, { count: 100, offset: 50, totalCount: 5, result: [] });
  });

  test('4.4: a trailing slash and the case of parameter names and types make no difference', async () => {
    const token = await tokenFor([first]);
    const response = await list(token, '/?COUNT=1&ListingType=Contact_List');
    assert.equal(response.status, 200);
    assert.equal((response.body.result as unknown[]).length, 1);
  });

  test('4.4: types that are never stored have an empty listing', async () => {
    const response = await list(await tokenFor([first]), '?listingtype=SENT_MESSAGE');
    assert.deepEqual(response.body, { count: 100, offset: 0, totalCount: 0, result: [] });
  });

  test('4.4: bad parameters get a 400 with an error code and a message that names them', async () => {
    const token = await tokenFor([first]);
    for (const [query, message] of [
      ['?count=0', /^count must be a whole number from 1 to 1000$/],
      ['?count=1001', /^count/],
      ['?count=ten', /^count/],
      ['?offset=-1', /^offset/],
      ['?listingtype=EVERYTHING', /^listingtype must be one of CONTACT_LIST/],
      ['?count=1&count=1', /^count is given more than once$/],
    ] as const) {
      const response = await list(token, query);
      assert.equal(response.status, 400, query);
      assert.deepEqual(Object.keys(response.body), ['errorCode', 'message']);
      assert.match(String(response.body.message), message);
    }
  });
});

describe('the account of a listing', () => {
  test('a password token uses its first membership, or the account in X-Account-Id', async () => {
    const token = await tokenFor([second, first]);
    assert.equal((await list(token)).body.totalCount, 1);
    assert.equal((await list(token, '', { 'x-account-id': '1000' })).body.totalCount, 5);
    assert.equal((await list(token, '', { 'x-account-id': '' })).body.totalCount, 1);
  });

  test("X-Account-Id can't name an account that the token has no access to", async () => {
    const token = await tokenFor([first]);
    for (const named of ['2000', 'nobody', 'not an id']) {
      const response = await list(token, '', { 'x-account-id': named });
      assert.equal(response.status, 400);
      assert.equal(response.body.message, 'X-Account-Id must name an account of this token');
    }
  });

  test('a token bound to an account lists that account only', async () => {
    const token = await tokenFor([first, empty]);
    await database.pool.query(
      `update access_token set account_id = '3000'
       where person_id = (select person_id from access_token order by issued_at desc limit 1)`,
    );
    assert.deepEqual((await list(token)).body.totalCount, 0);
    assert.equal((await list(token, '', { 'x-account-id': '3000' })).status, 200);
    assert.equal((await list(token, '', { 'x-account-id': '1000' })).status, 400);
  });

  test('an account without lists sees none of the others', async () => {
    const response = await list(await tokenFor([empty]));
    assert.deepEqual(response.body, { count: 100, offset: 0, totalCount: 0, result: [] });
  });
});

describe('7: callers without access', () => {
  test('7: without a valid token, the response is 401 Unauthorized Request', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer nothing' },
      { authorization: 'Basic eA==' },
    ]) {
      const response = await sendRequest(`${node.url}/api/1/list`, {
        headers: new Headers(Object.entries(headers)),
      });
      assert.equal(response.status, 401);
      assert.equal(response.body.message, 'Unauthorized Request');
      assert.equal(response.body.requestId, response.headers.get('x-request-id'));
    }
  });

  test('7: a suspended account gets 401 Account Temporarily Suspended within a second', async () => {
    const account = await world.addAccount('4000');
    const token = await tokenFor([account]);
    assert.equal((await list(token)).status, 200);
    await world.addAccount('4000', true);
    const response = await waitFor(
      'the suspension',
      async () => {
        const given = await list(token);
        return given.status === 401 ? given : undefined;
      },
      changeTimeoutMs,
    );
    assert.equal(response.body.message, 'Account Temporarily Suspended');
  });

  test('7: a user without any account gets a 401', async () => {
    const person = await world.addPerson({ accounts: [first] });
    const { body } = await postToken(node, passwordFields(person, client));
    const token = String(body.access_token);
    assert.equal((await list(token)).status, 200);
    await removeMembership(database.kysely, first, person.id);
    await waitFor(
      'the end of the membership',
      async () => (await list(token)).body.message === 'Unauthorized Request',
      changeTimeoutMs,
    );
  });
});

testAccountFirst(5);
