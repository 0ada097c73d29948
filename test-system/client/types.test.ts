import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { TemplateId } from '../../src/base/values/ids.ts';
import { removeTemplate } from '../../src/content/template/template-store.ts';
import { addKey } from '../../test/support/api-key.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { runInProcess } from '../../test/support/run-command.ts';

const shop = await FeedbackShop.open();
const { url } = shop.service;
const run = promisify(execFile);
const { folder: app, compile } = await createClientApp();
const key = await addKey(shop.database, shop.shop.id, { scopes: ['templates:read'] });
const manifestKey = await addKey(shop.database, shop.shop.id, { scopes: ['messages:send'] });
const client = join(app, 'node_modules/signalpost-client');

await removeTemplate(shop.database.kysely, shop.shop.id, 't-0001' as TemplateId);
await shop.publish('hello', '<p>Hello</p>');
await shop.publish(
  'receipt',
  `<p>{{Order Number}} {{Note}}</p>{{#Items}}<p>{{Name}} {{Price}} {{#Tags}}{{Tag}}{{/Tags}}</p>{{/Items}}
  {{#Shop}}<p>{{City}}</p>{{/Shop}}<a href="{{Unsubscribe Link}}">Stop</a>`,
  {
    'Order Number': { description: 'As printed on the invoice.\nWithout blanks */' },
    Note: { default: '' },
    Items: {
      kind: 'list',
      fields: { Name: {}, Price: { default: '0' }, Tags: { kind: 'list', fields: { Tag: {} } } },
    },
    Shop: { kind: 'object', default: { City: 'Bonn' }, fields: { City: {} } },
  },
);

interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

function signalpost(args: readonly string[], secret = key): Promise<Ended> {
  return runInProcess(['types', ...args], { SIGNALPOST_API_KEY: secret });
}

async function clientBin(args: readonly string[], secret = key): Promise<Ended> {
  const { bin } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as {
    bin: Readonly<Record<string, string>>;
  };
  const program = join(client, bin['signalpost-client'] ?? '');
  const env = { PATH: process.env.PATH, SIGNALPOST_KEY: secret };
  return await run(process.execPath, [program, 'types', ...args], { cwd: app, env }).then(
    ({ stdout: out, stderr: err }) => ({ code: 0, out, err }),
    ({ code, stdout: out, stderr: err }) => ({ code, out, err }),
  );
}

const published = `export {};

declare module 'signalpost-client' {
  interface Templates {
    hello: {
      data: Record<string, never>;
      locale: never;
    };
    receipt: {
      data: {
        Items: readonly {
          Name: string;
          Price?: string;
          Tags: readonly {
            Tag: string;
          }[];
        }[];
        Note?: string;
        /**
         * As printed on the invoice.
         * Without blanks *\\/
         */
        'Order Number': string;
        Shop?: {
          City: string;
        };
      };
      locale: never;
    };
  }
}
`;

test('the client and the service write the same types of the published templates', async () => {
  const out = join(app, 'signalpost-templates.d.ts');
  const { code, err } = await clientBin(['--url', url, '--out', 'signalpost-templates.d.ts']);
  assert.deepEqual([code, err], [0, 'Wrote signalpost-templates.d.ts: 2 templates.\n']);
  const written = await readFile(out, 'utf8');
  assert.equal(written.slice(written.indexOf('\n') + 1), published);
  const service = await signalpost(['--url', `${url}/`]);
  assert.deepEqual([service.code, service.out], [0, written]);
});

test('an OpenAPI document of the account gives the same types, without the service', async () => {
  const document = join(app, 'mail.openapi.json');
  assert.equal((await signalpost(['--url', url, '--out', document])).code, 0);
  const fromService = await signalpost(['--url', url]);
  for (const types of [signalpost, clientBin]) {
    const { code, out } = await types(['--openapi', document]);
    assert.deepEqual([code, out], [0, fromService.out]);
  }
  assert.equal((await signalpost(['--url', url, '--out', document, '--check'])).code, 0);
});

test('calls that don’t fit the published templates don’t compile', async () => {
  const { out } = await signalpost(['--url', url]);
  await writeFile(join(app, 'signalpost-templates.d.ts'), out);
  const text = `
import { outbox, Signalpost } from 'signalpost-client';
import './signalpost-templates.d.ts';
const signalpost = new Signalpost({ url: 'https://mail.example.com', key: 'sp_' });
const to = 'ada@people.test';
const data = { 'Order Number': 'A-1', Items: [{ Name: 'Tea', Tags: [] }] };
await signalpost.send('receipt', { to, data });
await signalpost.send('receipt', { to, data: { ...data, Note: '', Shop: { City: 'Ulm' } } });
await signalpost.send('hello', { to });
// @ts-expect-error a template that isn't there
await signalpost.send('recipt', { to, data });
// @ts-expect-error a field without a value
await signalpost.send('receipt', { to, data: { Items: [] } });
// @ts-expect-error a field that isn't there
await signalpost.send('receipt', { to, data: { ...data, Notes: '' } });
// @ts-expect-error text instead of a list
await signalpost.send('receipt', { to, data: { ...data, Items: 'Tea' } });
// @ts-expect-error an item without a field
await signalpost.send('receipt', { to, data: { ...data, Items: [{ Name: 'Tea' }] } });
// @ts-expect-error a number instead of text
await signalpost.send('receipt', { to, data: { ...data, Note: 1 } });
// @ts-expect-error a template without fields
await signalpost.send('hello', { to, data: { Name: 'Ada' } });
// @ts-expect-error a template in one language
await signalpost.send('receipt', { to, data, locale: 'fr' });
const query = async (sql: string, values: string[]) => ({ sql, values });
const { sql }: { sql: string } = await outbox.insert(query, 'receipt', { to, data });
await outbox.insert(query, 'hello', { to, sendAt: new Date(), externalId: sql });
// @ts-expect-error a template that isn't there
await outbox.insert(query, 'recipt', { to, data });
// @ts-expect-error a field without a value
await outbox.insert(query, 'receipt', { to, data: { Items: [] } });
// @ts-expect-error no values
await outbox.insert(query, 'receipt', { to });
// @ts-expect-error a row has no idempotency key
await outbox.insert(query, 'hello', { to, idempotencyKey: 'one' });
`;
  await writeFile(join(app, 'typed.ts'), text);
  assert.equal(await compile(['typed.ts'], '--module', 'nodenext'), '');
});

test('a file that TypeScript would ignore is not written', async () => {
  await writeFile(join(app, 'mail.ts'), 'export {};\n');
  for (const types of [signalpost, clientBin]) {
    const { code, err } = await types(['--url', url, '--out', join(app, 'mail.d.ts')]);
    assert.equal(code, 1);
    assert.match(err, /TypeScript would ignore \S+mail\.d\.ts beside \S+mail\.ts\. Choose/);
  }
});

test('--check passes while the file fits, and then says what changed', async () => {
  const out = join(app, 'checked.d.ts');
  assert.equal((await signalpost(['--url', url, '--out', out])).code, 0);
  for (const check of [signalpost, clientBin])
    assert.equal((await check(['--url', url, '--out', out, '--check'])).code, 0);
  await shop.publish('receipt', '<p>{{Order Number}} {{Note}}</p>', {
    'Order Number': { default: '' },
  });
  const changed = await shop
    .publish('added', '<p>Hello</p>')
    .then(() => signalpost(['--url', url, '--out', out, '--check']));
  assert.equal(changed.code, 1);
  assert.equal(
    changed.out,
    `${out} doesn’t fit the published templates:
  added was added
  receipt: field Items was removed
  receipt: field Note is now required
  receipt: field Order Number is now optional
  receipt: field Shop was removed
Run the command without --check and commit the file.
`,
  );
  assert.equal((await clientBin(['--url', url, '--out', out, '--check'])).out, changed.out);
  await rm(out);
  const missing = await signalpost(['--url', url, '--out', out, '--check']);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /Can’t read .*checked\.d\.ts/);
});

test('a manifest gives the same types as the service that it was exported from', async () => {
  const exporting = await runInProcess(['export'], { DATABASE_URL: shop.databaseUrl });
  assert.equal(exporting.code, 0);
  const manifest = join(app, 'manifest.yaml');
  const text = `${exporting.out}    integrations: [{ clientId: x, clientSecret: "\${UNSET}", name: X }]\n`;
  await writeFile(manifest, text.replace(/^ {4}integrations:[\s\S]*?(?=^ {4}templates:)/m, ''));
  const fromManifest = await signalpost(['--manifest', manifest, '--account', shop.shop.id], '');
  assert.equal(fromManifest.err, '');
  assert.equal(fromManifest.out, (await signalpost(['--url', url])).out);
  const unknown = await signalpost(['--manifest', manifest, '--account', 'none'], '');
  assert.match(unknown.err, /has no account none/);
});

test('what can’t work is told without the key', async () => {
  for (const [args, secret, expected] of [
    [[], key, /--url is required/],
    [['--url', 'mail.example.com'], key, /--url must be/],
    [['--url', url], '', /Set SIGNALPOST_API_KEY/],
    [['--url', url], 'secret-text', /begins with sp_/],
    [['--url', url], manifestKey, /lacks a scope.*templates/],
    [['--url', url], `${key.slice(0, -50)}${'0'.repeat(43)}_000000`, /doesn’t know this API key/],
    [['--url', 'http://127.0.0.1:1'], key, /Can’t reach http:\/\/127\.0\.0\.1:1/],
  ] as const)
    for (const call of [signalpost, clientBin]) {
      const { code, out, err } = await call(args, secret);
      assert.deepEqual([code, out], [1, ''], err);
      assert.match(err, expected);
      assert.ok(secret === '' || !err.includes(secret));
    }
  assert.match((await clientBin(['--nothing'])).err, /Usage: signalpost-client types/);
});
