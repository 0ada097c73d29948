import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, service, owner, path, shop, makeOperator } = await openSharedShop({
  worker: false,
});
await makeOperator();

function isProblem(response: TextResponse, status: number, type: string): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  assert.equal(response.body.type, `/problems/${type}`);
  assert.equal(response.body.status, status);
  assert.equal(typeof response.body.detail, 'string');
  assert.equal(response.headers.get('x-request-id'), response.body.requestId);
}

test('an unknown endpoint is a 404 problem for every caller', async () => {
  for (const where of ['/nothing', `${path}/nothing`, `${path}/senders/a@b.test/nothing`, '/%ZZ'])
    isProblem(await owner.get(where), 404, 'not-found');
});

test('a malformed path parameter is reported with its format', async () => {
  const id = 'must be 1 to 64 letters, digits, - and _';
  for (const [where, field, reason] of [
    [`${path}/lists/%F0%9F%98%80`, 'listId', id],
    [`${path}/templates/${'t'.repeat(65)}`, 'templateId', id],
    [`${path}/messages/1`, 'messageId', 'must be a UUID'],
    [`${path}/senders/nobody`, 'address', 'must be an email address'],
    [`${path}/templates/t-1/versions/0`, 'version', 'must be a whole number from 1 to 999999999'],
    ['/accounts/a%20b', 'accountId', id],
  ] as const) {
    const response = await owner.get(where);
    isProblem(response, 404, 'not-found');
    assert.equal(response.body.detail, `${field} ${reason}`);
    assert.deepEqual(response.body.errors, [{ field, reason }]);
  }
  const made = await owner.put(`${path}/lists/%F0%9F%98%80`, { name: 'Customers' });
  isProblem(made, 404, 'not-found');
  assert.equal(made.body.detail, `listId ${id}`);
});

test('an unsupported method is 405 with the allowed ones', async () => {
  const response = await owner.call('POST', `${path}/senders/a@shop.test`, {});
  isProblem(response, 405, 'method-not-allowed');
  assert.equal(response.headers.get('allow'), 'GET, PUT, DELETE');
  isProblem(await owner.call('PATCH', path, {}), 405, 'method-not-allowed');
});

test('a too deeply nested body is rejected immediately, whatever its size', async () => {
  const levels = 600_000;
  const body = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const json = { 'content-type': 'application/json' };
  const response = await owner.call('PUT', `${path}/templates/t-0001/draft`, body, json);
  isProblem(response, 422, 'validation-failed');
  assert.match(String(response.body.detail), /is nested deeper than 64 levels$/);
});

test('a body that is too large, of the wrong type or invalid JSON is a problem', async () => {
  const large = JSON.stringify({ name: 'x'.repeat(5 * 1024 * 1024) });
  const json = { 'content-type': 'application/json' };
  isProblem(await owner.call('PUT', `${path}/lists/l-1`, large, json), 413, 'too-large');
  for (const type of ['text/xml', 'text/plain'])
    isProblem(
      await owner.call('PUT', `${path}/lists/l-1`, '{"name":"x"}', { 'content-type': type }),
      415,
      'unsupported-media-type',
    );
  isProblem(await owner.call('PUT', `${path}/lists/l-1`, '{', json), 400, 'malformed-request');
});

test('CSV sent to a JSON endpoint is rejected before it is read', async () => {
  const csv = { 'content-type': 'text/csv' };
  isProblem(
    await owner.call('PUT', `${path}/lists/l-1`, 'name\r\nx', csv),
    415,
    'unsupported-media-type',
  );
});

test('blank names are rejected for every resource', async () => {
  const template = { createdBy: 'ann@shop.test', subject: 'Hello', text: 'Hello' };
  for (const [method, where, body, field = 'name'] of [
    ['PUT', path, {}],
    ['PUT', `${path}/lists/l-1`, {}],
    ['PUT', `${path}/users/bob@shop.test`, { role: 'viewer' }],
    ['PUT', `${path}/integrations/blank`, {}],
    ['PUT', `${path}/templates/t-1`, template],
    ['POST', `${path}/keys`, { scopes: ['look'] }],
    ['PUT', `${path}/senders/a@shop.test`, { displayNames: ['Shop', ' '] }, 'displayNames[1]'],
  ] as const) {
    const given = field === 'name' ? { ...body, name: ' \u00a0\t' } : body;
    const response = await owner.call(method, where, given);
    isProblem(response, 422, 'validation-failed');
    const errors = response.body.errors as { field: string; reason: string }[];
    const found = errors.find((error) => error.field === field);
    assert.equal(found?.reason, 'is empty or blank', `${where}: ${response.text}`);
  }
});

test('text that can’t be stored is reported anywhere in a request', async () => {
  isProblem(await owner.put(`${path}/lists/l-1`, { name: 'a\0b' }), 422, 'validation-failed');
  isProblem(await owner.put(`${path}/lists/l-1`, { name: '\ud800' }), 422, 'validation-failed');
  isProblem(await owner.get(`${path}/messages?tag=a%00b`), 422, 'validation-failed');
  isProblem(await owner.get(`${path}/audit?from=%2B275760-01-01`), 422, 'validation-failed');
});

test('repeated query parameters are rejected', async () => {
  const response = await owner.get(`${path}/messages?limit=1&limit=2&tag=a&tag=b`);
  isProblem(response, 422, 'validation-failed');
  assert.equal(response.body.detail, 'limit is given more than once');
  assert.deepEqual(response.body.errors, [
    { field: 'limit', reason: 'is given more than once' },
    { field: 'tag', reason: 'is given more than once' },
  ]);
});

test('a webhook to localhost is rejected by name and by address', async () => {
  for (const url of [
    'https://169.254.169.254/',
    'https://localhost/',
    'https://a.localhost:8443/',
  ]) {
    const response = await owner.post(`${path}/webhooks`, { url, kinds: ['delivered'] });
    isProblem(response, 422, 'validation-failed');
    assert.match(response.text, /url is in a private network\. .* WEBHOOK_NETWORKS/, url);
  }
});

test('invalid times are rejected by name; a date means midnight', async () => {
  for (const from of ['2026-02-30T00:00:00Z', '2025-02-29', '2026-01-31T12:00:00'])
    for (const list of ['messages', 'audit']) {
      const response = await owner.get(`${path}/${list}?from=${from}`);
      isProblem(response, 422, 'validation-failed');
      assert.match(response.text, /from must be a time such as/);
    }
  assert.equal((await owner.get(`${path}/messages?from=2024-02-29`)).status, 200);
});

test('every list rejects invalid cursors without an internal error', async () => {
  const template = `${path}/templates/t-0001`;
  await owner.put(`${path}/lists/l-0001`, { name: 'List' });
  const lists = [
    `${path}/audit`,
    `${path}/messages`,
    `${path}/users`,
    `${path}/senders`,
    `${path}/domains`,
    `${path}/integrations`,
    `${path}/templates`,
    `${template}/versions`,
    `${path}/lists`,
    `${path}/lists/l-0001/contacts`,
    `${path}/suppressions`,
    '/installation/accounts',
    '/installation/people',
    '/installation/audit',
  ];
  const forged = ['x', '', '["a"]', '["a","b"]', '["a","b","c"]', '["\\u0000"]', '[1]', '{}'];
  for (const list of lists) {
    for (const text of forged) {
      const cursor = Buffer.from(text).toString('base64url');
      const { status } = await owner.get(`${list}?cursor=${cursor}`);
      assert.ok(status === 422 || status === 200, `${list} with ${text}: ${status}`);
    }
    isProblem(await owner.get(`${list}?cursor=%00`), 422, 'validation-failed');
  }
});

test('an interrupted upload leaves no import behind', async () => {
  const id = '019a0000-0000-7000-8000-00000000000a';
  const address = `${path}/lists/l-0001/imports/${id}`;
  const token = await addKey(database, shop.id);
  await new Promise<void>((resolve) => {
    const broken = request(`${service.url}/manage/v1${address}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'text/csv',
        'content-length': 1_000,
      },
    });
    broken.on('error', () => resolve());
    broken.write('email\r\na@b.test\r\n', () => broken.destroy());
    broken.on('close', () => resolve());
  });
  isProblem(await owner.get(address), 404, 'not-found');
});
