import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../packages/client/src/index.ts';
import { createManagement } from '../../packages/client/src/manage/index.ts';
import { addKey } from '../support/api-key.ts';
import { openSharedShop } from '../support/test-shop.ts';

const {
  database,
  service: { url },
  shop,
} = await openSharedShop({ worker: false });
const manage = createManagement({ url, key: await addKey(database, shop.id) });
const path = { accountId: shop.id };

test('operations are called with the path, query and body of the OpenAPI document', async () => {
  const list = await manage.put('/manage/v1/accounts/{accountId}/lists/{listId}', {
    path: { ...path, listId: 'l-news' },
    body: { name: 'News & offers' },
    ifNoneMatch: '*',
  });
  assert.equal(list.name, 'News & offers');
  const { items } = await manage.get('/manage/v1/accounts/{accountId}/messages', {
    path,
    query: { limit: 1 },
  });
  assert.deepEqual(items, []);
  const none = await manage.delete('/manage/v1/accounts/{accountId}/lists/{listId}', {
    path: { ...path, listId: 'l-news' },
  });
  assert.equal(none, undefined);
});

test('RFC 9457: a problem is an error with its type, fields and request ID', async () => {
  await assert.rejects(
    () =>
      manage.get('/manage/v1/accounts/{accountId}/senders/{address}', {
        path: { ...path, address: 'none@shop.test' },
      }),
    (error) =>
      error instanceof RequestError &&
      error.status === 404 &&
      error.type === '/problems/not-found' &&
      error.requestId !== undefined,
  );
  await assert.rejects(
    () => manage.get('/manage/v1/accounts/{accountId}/messages', { path, query: { limit: 0 } }),
    (error) => error instanceof RequestError && error.details[0]?.field === 'limit',
  );
});

test('an error says each reason once', async () => {
  await assert.rejects(
    () =>
      manage.put('/manage/v1/accounts/{accountId}/lists/{listId}', {
        path: { ...path, listId: 'l-news' },
        body: { name: 'News', misspelt: 1, other: 2 } as { name: string },
      }),
    {
      message:
        /^Validation failed: misspelt is unknown(?!.*misspelt).*; other is unknown(?!.*other)/,
    },
  );
});
