import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Problem } from '../../src/operating/management/answer/problem.ts';
import { InputChecker } from '../../src/operating/management/check-input.ts';
import { pathParams } from '../../src/operating/management/path-params.ts';
import { routeTable } from '../../src/operating/management/route-table.ts';
import {
  describeSchemaErrors,
  makeUniqueItemsLinear,
} from '../../src/operating/manifest/check-schema.ts';
import { ManifestSchema } from '../../src/operating/manifest/manifest-schema.ts';
import { sendBodySchema } from '../../src/sending/submission/send-body-schema.ts';
import { findUnbounded } from '../support/find-unbounded.ts';
import { openSharedShop } from '../support/test-shop.ts';

test('ASVS 4.0.3 13.2.2: every input schema limits its strings, arrays and members', () => {
  const found = routeTable.flatMap(({ operation: { id, body, query, accepts } }) => [
    ...(accepts === undefined ? findUnbounded(body, `${id} body`) : []),
    ...findUnbounded(query, `${id} query`),
  ]);
  for (const [name, { schema }] of Object.entries(pathParams))
    found.push(...findUnbounded(schema, `path ${name}`));
  found.push(...findUnbounded(ManifestSchema, 'manifest'));
  assert.deepEqual(found, []);
});

test('ASVS 4.0.3 13.2.2: the send body is bounded; its values and files are limited by the body size alone', () => {
  const values = 'send.content.personalizationDataMap';
  const names = ['maxProperties', 'propertyNames'].map((name) => `${values}: ${name}`);
  assert.deepEqual(findUnbounded(sendBodySchema, 'send'), [
    ...names,
    `${values}{}|0: maxLength`,
    'send.content.attachments[].content: maxLength',
  ]);
});

test('the walk finds unbounded values at any depth', () => {
  const text = { type: 'string' };
  const object = (properties: object) => ({
    type: 'object',
    additionalProperties: false,
    properties,
  });
  for (const [schema, missing] of [
    [text, 'x: maxLength'],
    [{ type: 'string', pattern: '^[a-z+*]+$' }, 'x: maxLength'],
    [{ type: 'string', pattern: '^[a-z]{3,}$' }, 'x: maxLength'],
    [{ type: 'array', items: { type: 'integer' } }, 'x: maxItems'],
    [{ type: 'array', maxItems: 1, items: text }, 'x[]: maxLength'],
    [object({ a: { anyOf: [{ type: 'null' }, text] } }), 'x.a|1: maxLength'],
    [
      { type: 'object', properties: {}, maxProperties: 1, propertyNames: { type: 'null' } },
      'x: additionalProperties',
    ],
    [{}, 'x: type'],
  ] as const)
    assert.deepEqual(findUnbounded(schema, 'x'), [missing]);
  assert.deepEqual(findUnbounded({ type: 'string', pattern: '^[a-z+*]{1,9}$' }, 'x'), []);
});

test('ASVS 4.0.3 11.1.4: the check for duplicates is linear', () => {
  const check = makeUniqueItemsLinear(new Ajv()).compile({ type: 'array', uniqueItems: true });
  let reads = 0;
  const items = new Proxy(
    Array.from({ length: 80_000 }, (_, at) => `scope ${at}`),
    {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(target, name);
      },
    },
  );
  assert.equal(check(items), true);
  assert.ok(reads <= 2 * items.length, `${reads} reads`);
  assert.equal(check(['a', 'b', 'a']), false);
});

test('ASVS 4.0.3 11.1.4: only the returned errors of a body with thousands of errors are described', () => {
  const endpoint = routeTable.find(({ operation: { id } }) => id === 'createApiKey')?.operation;
  assert.ok(endpoint);
  let reads = 0;
  const scopes = new Proxy(
    Array.from({ length: 1_900 }, (_, at) => `scope ${at}`),
    {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(target, name);
      },
    },
  );
  assert.throws(() => new InputChecker().readBody(endpoint, { name: 'x', scopes }), Problem);
  // Once each for invalid text, the schema and duplicates, and for 50 errors.
  assert.ok(reads <= 3 * scopes.length + 50, `${reads} reads`);
});

test('ASVS 4.0.3 11.1.4: thousands of invalid unions are not compared with each other', () => {
  let reads = 0;
  const errors = Array.from({ length: 4_000 }, (_, at) => ({
    keyword: 'anyOf',
    get instancePath() {
      reads += 1;
      return `/${at}`;
    },
    schemaPath: '#/items/anyOf',
    params: {},
    schema: [{ type: 'string' }, { type: 'null' }],
    data: 1,
  }));
  assert.equal(describeSchemaErrors(errors, [], 50).length, 50);
  assert.ok(reads < 5_000_000, `${reads} reads`);
});

test('ASVS 4.0.3 11.1.4: lists and bodies with too many values are rejected, naming the limit', async () => {
  const { owner, path } = await openSharedShop({ worker: false });
  const key = (scopes: readonly string[]) => owner.post(`${path}/keys`, { name: 'x', scopes });
  const large = await key(Array.from({ length: 80_000 }, (_, at) => `scope ${at}`));
  assert.equal(large.status, 413, large.text);
  assert.match(String(large.body.detail), /larger than 64 KiB/);
  const many = await key(Array.from({ length: 4_000 }, () => 'x'));
  assert.equal(many.status, 422);
  assert.match(String(many.body.detail), /has more than 2000 values/);
  const some = await key(Array.from({ length: 1_000 }, () => 'messages:read'));
  assert.equal(some.status, 422);
  assert.match(some.text, /scopes","reason":"must have at most \d+ entries/);
  assert.match(some.text, /contains a duplicate entry/);
  const names = { fields: { [`a${'b'.repeat(300)}`]: 'x' } };
  await owner.put(`${path}/lists/l-1`, { name: 'People' });
  const named = await owner.put(`${path}/lists/l-1/contacts/ann@shop.test`, names);
  assert.equal(named.status, 422);
  assert.match(named.text, /fields has a name longer than 200 characters/);
});
