import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createClientApp } from '../../test/support/client-app.ts';

const run = promisify(execFile);
const app = await createClientApp();

async function compile(file: string, text: string, ...options: string[]): Promise<string> {
  await writeFile(join(app.folder, file), text);
  return await app.compile([file], ...options);
}

const templates = `
declare module 'signalpost-client' {
  interface Templates {
    receipt: {
      data: {
        'Order Number': string;
        Note?: string;
        Items: readonly { Name: string; Price?: string }[];
      };
      locale: 'en' | 'de';
    };
    hello: { data: Record<never, never>; locale: never };
  }
}
`;

/** Each \`ts-expect-error\` fails the compiler if the line below it has no error. */
const typed = `
import { Signalpost, SuppressedError, type SignalpostFailure } from 'signalpost-client';
import { createManagement } from 'signalpost-client/manage';
import { fileStore } from 'signalpost-client/file-store';
${templates}
const url = 'https://mail.example.com';
const signalpost = new Signalpost({ url, key: 'sp_' });
const grant = { type: 'refresh_token', refreshToken: '' } as const;
const oauth = { clientId: '', clientSecret: '', grant, store: fileStore('tokens') };
const token = new Signalpost({ url, account: '1000', oauth });
const to = 'ada@people.test';
const data = { 'Order Number': 'A-1', Items: [{ Name: 'Tea' }] };
await signalpost.send('receipt', { to, data, locale: 'de' });
await signalpost.send('hello', { to });
await token.send('receipt', { to, data });
// @ts-expect-error a template that isn't there
await signalpost.send('recipt', { to, data });
// @ts-expect-error a field without a value
await signalpost.send('receipt', { to, data: { Items: [] } });
// @ts-expect-error a list that is text
await signalpost.send('receipt', { to, data: { ...data, Items: 'Tea' } });
// @ts-expect-error a language that the template doesn't have
await signalpost.send('receipt', { to, data, locale: 'fr' });
// @ts-expect-error no data at all
await signalpost.send('receipt', { to });
// @ts-expect-error tokens don't open the management API
await token.cancel('');
// @ts-expect-error tokens don't open the management API
token.events.list();
const manage = createManagement({ url, key: '' });
// @ts-expect-error a path that isn't there
await manage.get('/manage/v1/account');
const account = await manage.get('/manage/v1/accounts/{accountId}', { path: { accountId: '1' } });
account.name satisfies string;
export function handle(error: SignalpostFailure): readonly string[] {
  if (error.code === 'PERSONALIZATION_FAILURE') return error.missing;
  // @ts-expect-error only a suppression has recipients
  error.recipients;
  return error instanceof SuppressedError ? error.recipients : [];
}
`;

test('an app compiles with templates, fields and languages that exist, and with no others', async () => {
  assert.equal(await compile('app.ts', typed, '--module', 'nodenext'), '');
  assert.equal(
    await compile('app.ts', typed, '--module', 'esnext', '--moduleResolution', 'bundler'),
    '',
  );
});

test('without the types of templates, every template and field compiles', async () => {
  const untyped = `
import { Signalpost } from 'signalpost-client';
const signalpost = new Signalpost({ url: '', key: '' });
await signalpost.send('any', { to: '', data: { Name: 'Ada', Items: [{ Name: 'Tea' }] } });
await signalpost.send('any', { to: '' });
`;
  assert.equal(await compile('untyped.ts', untyped, '--module', 'nodenext'), '');
});

const key = `sp_1000_${'0'.repeat(43)}_000000`;

test('the package is imported as an ES module and required as CommonJS', async () => {
  const use = `const { account } = new Signalpost({ url: 'https://mail.example.com', key: '${key}' });
if (account !== '1000' || typeof webhooks.verify !== 'function') process.exit(1);`;
  await writeFile(
    join(app.folder, 'run.mjs'),
    `import { Signalpost, webhooks } from 'signalpost-client';\nimport 'signalpost-client/manage';\nimport 'signalpost-client/file-store';\nimport 'signalpost-client/status';\n${use}`,
  );
  await writeFile(
    join(app.folder, 'run.cjs'),
    `const { Signalpost, webhooks } = require('signalpost-client');\nrequire('signalpost-client/manage');\nrequire('signalpost-client/file-store');\nrequire('signalpost-client/status');\n${use}`,
  );
  for (const file of ['run.mjs', 'run.cjs'])
    await run(process.execPath, ['--no-experimental-require-module', file], { cwd: app.folder });
});
