import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import packageFacts from '../../package.json' with { type: 'json' };
import { openapiDocument } from '../../src/operating/management/openapi/openapi-document.ts';
import { routeTable } from '../../src/operating/management/route-table.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';

const root = join(import.meta.dirname, '../..');
const { url: databaseUrl } = await createTestDatabase();
const service = await startTestService({ databaseUrl, worker: false });

test('the document is up to date with the schemas', async () => {
  const text = await readFile(join(root, 'docs/openapi.json'), 'utf8');
  assert.equal(text, `${JSON.stringify(openapiDocument(packageFacts.version), null, 2)}\n`);
  const served = await sendRequest(`${service.url}/openapi.json`);
  assert.deepEqual(served.body, JSON.parse(text));
});

test('the document passes the linter', () => {
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/redocly'),
    ['lint', '--extends=recommended-strict', '--format=stylish', 'docs/openapi.json'],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  assert.equal(status, 0, `${stdout}${stderr}`);
});

test('every PUT with optional members documents what happens to omitted ones', async () => {
  const document = await sendRequest(`${service.url}/openapi.json`);
  type Schema = { $ref?: string; properties?: object; required?: string[] };
  const { paths, components } = document.body as unknown as {
    paths: Record<
      string,
      {
        put?: {
          operationId: string;
          description?: string;
          requestBody?: { content: Record<string, { schema: Schema }> };
        };
      }
    >;
    components: { schemas: Record<string, Schema> };
  };
  let checked = 0;
  for (const { put } of Object.values(paths)) {
    const named = put?.requestBody?.content['application/json']?.schema;
    const schema = named?.$ref ? components.schemas[named.$ref.split('/').at(-1) ?? ''] : named;
    const members = Object.keys(schema?.properties ?? {}).length;
    if (put === undefined || members === (schema?.required ?? []).length) continue;
    checked += 1;
    assert.match(String(put.description), /[Oo]mitted/, put.operationId);
  }
  assert.ok(checked >= 8, `${checked} were looked at`);
});

test('every path parameter and JSON body has an example that its schema accepts, and importers make up no members', () => {
  const document = openapiDocument('0') as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  type Example = { readonly example?: unknown; readonly schema: object };
  interface Described {
    readonly operationId: string;
    readonly parameters?: readonly (Example & { readonly in: string; readonly name: string })[];
    readonly requestBody?: { readonly content: Readonly<Record<string, Example>> };
  }
  const ajv = new Ajv2020({
    strict: false,
    formats: { date: true, 'date-time': true, uuid: true },
  });
  ajv.addSchema({ $id: 'document', ...document });
  let checked = 0;
  const check = (place: string, { example, schema }: Example): void => {
    checked += 1;
    const local = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    assert.notEqual(example, undefined, place);
    assert.ok(ajv.validate(JSON.parse(local), example), `${place}: ${ajv.errorsText()}`);
  };
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? [])
      if (parameter.in === 'path') check(`${operation.operationId} ${parameter.name}`, parameter);
    const body = operation.requestBody?.content['application/json'];
    if (body !== undefined) check(operation.operationId, body);
  }
  assert.ok(checked > 280, `${checked} were looked at`);
  assert.doesNotMatch(JSON.stringify(document), /"maxProperties":/);
});

test('operation ids are unique', () => {
  const ids = routeTable.map(({ operation: endpoint }) => endpoint.id);
  assert.equal(new Set(ids).size, ids.length);
});

test('the documentation loads nothing from other hosts and runs no inline script', async () => {
  const page = await sendRequest(`${service.url}/docs`);
  assert.equal(page.status, 200);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(policy, /https?:|\*/);
  assert.doesNotMatch(page.text, /https?:/);
  const script = await sendRequest(`${service.url}/docs/viewer.js`);
  assert.equal(script.status, 200);
  assert.ok(script.text.length > 100_000);
});

test('the documentation and its document are compressed for clients that accept it', async () => {
  for (const path of ['/docs/viewer.js', '/openapi.json']) {
    const plain = await fetch(service.url + path, { headers: { 'accept-encoding': 'identity' } });
    const zipped = await fetch(service.url + path, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    assert.equal(zipped.headers.get('vary'), 'accept-encoding');
    assert.equal(await zipped.text(), await plain.text());
  }
});

test('the type URL of a problem describes it', async () => {
  const refused = await sendRequest(`${service.url}/manage/v1/me`);
  assert.equal(refused.body.type, '/problems/unauthenticated');
  const meaning = await sendRequest(`${service.url}${refused.body.type}`);
  assert.equal(meaning.status, 200);
  assert.equal(meaning.body.title, refused.body.title);
  assert.equal((await sendRequest(`${service.url}/problems/constructor`)).status, 404);
});
