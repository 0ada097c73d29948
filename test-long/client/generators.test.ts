import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { writeOpenapi } from '../../src/content/template-types/write-openapi.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { installTools } from '../support/tools.ts';

/** Clients generated from docs/openapi.json compile under `strict`, together with a program that sends and reads a message. */
const run = promisify(execFile);
const folderOf = await installTools();
const root = join(import.meta.dirname, '../..');
const openapi = join(root, 'docs/openapi.json');
const folder = await mkdtemp(join(tmpdir(), 'generators-test-'));
after(() => rm(folder, { recursive: true }));
await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
await symlink(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
const tools = join(folderOf('.bin'));

async function generate(tool: string, ...args: string[]): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: folder, SCARF_ANALYTICS: 'false' };
  await run(join(tools, tool), args, { cwd: folder, env, maxBuffer: 10_000_000 });
}

/** @returns what the compiler complains about */
async function compile(file: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'esnext'];
  const more = [
    '--moduleResolution',
    'bundler',
    '--lib',
    'es2022,dom,dom.iterable',
    '--types',
    'node',
  ];
  return await run(process.execPath, [compiler, ...options, ...more, file], { cwd: folder }).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}

const body = `{
    envelope: { toAddress: 'ada@people.test' },
    content: { personalizationDataMap: { 'Order Number': 'A-1001' } },
    actions: { trackOpens: false, trackClicks: false },
  }`;

test('types from openapi-typescript describe a send and its response', async () => {
  await generate('openapi-typescript', openapi, '-o', 'paths.ts');
  await writeFile(
    join(folder, 'with-paths.ts'),
    `import type { paths } from '../../packages/client/src/api.generated.ts';
type Send = paths['/ete/v1/email/{account_id}/{template_id}']['post'];
export const request: Send['requestBody']['content']['application/json'] = ${body};
export const read = (answer: Send['responses'][200]['content']['application/json']): string => answer.messageId;
// @ts-expect-error a field is missing
export const wrong: Send['requestBody']['content']['application/json'] = { envelope: {} };`,
  );
  assert.equal(await compile('with-paths.ts'), '');
});

test('an OpenAPI document of templates types their fields', async () => {
  const fields = [
    { name: 'Order Number', kind: 'text', required: true },
    {
      name: 'Items',
      kind: 'list',
      required: false,
      fields: [{ name: 'Name', kind: 'text', required: true }],
    },
  ] as const;
  await writeFile(join(folder, 'mail.json'), writeOpenapi([{ id: 'receipt', fields }]));
  await generate('openapi-typescript', 'mail.json', '-o', 'mail.ts');
  await writeFile(
    join(folder, 'with-mail.ts'),
    `import type { paths } from '../../packages/client/src/api.generated.ts';
type Send = paths['/ete/v1/email/{account_id}/receipt']['post']['requestBody']['content']['application/json'];
type Values = NonNullable<Send['content']>['personalizationDataMap'];
export const good: Values = { 'Order Number': 'A-1', Items: [{ Name: 'Beans' }] };
// @ts-expect-error a field is missing
export const bad: Values = { Items: [] };`,
  );
  assert.equal(await compile('with-mail.ts'), '');
});

test('a client from orval compiles', async () => {
  await generate('orval', '--input', openapi, '--output', 'orval.ts', '--client', 'fetch');
  assert.equal(await compile('orval.ts'), '');
});

test('a client from @hey-api/openapi-ts compiles, sends and reads the message', async () => {
  await generate('openapi-ts', '-i', openapi, '-o', 'hey', '-c', '@hey-api/client-fetch');
  await writeFile(
    join(folder, 'with-hey.ts'),
    `import { client } from './hey/client.gen';
import { getMessageStatus } from './hey/sdk.gen';
import { sendEmail } from '../../src/sending/submission/send-email.ts';
const [url = '', key = '', accountId = ''] = process.argv.slice(2);
client.setConfig({ baseUrl: url, auth: () => key });
const sent = await sendEmail({
  path: { account_id: accountId, template_id: 't-0001' },
  body: ${body},
  throwOnError: true,
});
const status = await getMessageStatus({
  path: { account_id: accountId, message_id: sent.data.messageId },
  throwOnError: true,
});
console.log(status.data.templateId);`,
  );
  assert.equal(await compile('with-hey.ts'), '');
  const shop = await FeedbackShop.open();
  const key = await addKey(shop.database, shop.shop.id);
  const bun = join(folderOf('bun'), 'bin/bun.exe');
  const { stdout } = await run(bun, ['with-hey.ts', shop.service.url, key, shop.shop.id], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
  });
  assert.equal(stdout, 't-0001\n');
});
