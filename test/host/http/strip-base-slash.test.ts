import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { goodBody } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, service, shop } = await openSharedShop({ worker: false });
const key = await addKey(database, shop.id);

test('4: a base URL that ends in a slash works for every path of the contract', async () => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const base = `${service.url}/`;
  const sent = await sendRequest(`${base}/ete/v1/email/${shop.id}/t-0001`, {
    method: 'POST',
    headers,
    body: JSON.stringify(goodBody()),
  });
  assert.equal(sent.status, 200, sent.text);
  const status = await sendRequest(`${base}/ete/v1/message/${shop.id}/${sent.body.messageId}`, {
    headers,
  });
  assert.equal(status.status, 200, status.text);
  assert.equal((await sendRequest(`${base}/api/1/list?count=1`, { headers })).status, 200);
  const token = await sendRequest(`${base}/token`, {
    method: 'POST',
    body: new URLSearchParams({ a: 'b' }),
  });
  assert.equal(token.body.error, 'invalid_client');
  assert.equal((await sendRequest(`${base}/authorize?client_id=none`)).status, 400);
});

test('no other path is normalized', async () => {
  for (const path of [
    '//health',
    '//manage/v1/me',
    '//console',
    '//inbox',
    '///token',
    '//token/x',
  ])
    assert.equal((await sendRequest(`${service.url}${path}`)).status, 404, path);
});
