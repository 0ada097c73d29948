import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'vite';
import { addKey } from '../../test/support/api-key.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { FaultyProxy } from '../../test/support/faulty-proxy.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { installTools } from '../support/tools.ts';

/** The same script in every runtime, with the packed client, on a service behind a proxy that loses the first response. */
const run = promisify(execFile);
const folderOf = await installTools();
const app = await createClientApp();
const shop = await FeedbackShop.open();
await shop.publish('note', '<p>{{Name}}</p>');
const key = await addKey(shop.database, shop.shop.id);

await cp(join(import.meta.dirname, 'core.mjs'), join(app.folder, 'core.mjs'));
await writeFile(
  join(app.folder, 'run.mjs'),
  `import process from 'node:process';
import * as client from 'signalpost-client';
import { runCore } from './core.mjs';
console.log(await runCore(client, process.argv.at(-2), process.argv.at(-1)));`,
);
await writeFile(
  join(app.folder, 'worker.mjs'),
  `import * as client from 'signalpost-client';
import { runCore } from './core.mjs';
export default {
  fetch: async (_request, { url, key }) => new Response(await runCore(client, url, key)),
};`,
);

/** @returns the URL of a proxy that cuts the connection of the first request once the service has responded */
async function startProxy(): Promise<string> {
  const proxy = await FaultyProxy.start(shop.service.url);
  proxy.nextFault = () => (proxy.requests === 0 ? 'cut after' : 'none');
  return proxy.url;
}

/** Runs the script and expects exactly one more message. */
async function expectOneMessage(work: (url: string) => Promise<string>): Promise<void> {
  const ids = async () =>
    (await shop.database.pool.query('select id::text from message')).rows.map(({ id }) => id);
  const before = await ids();
  const messageId = await work(await startProxy());
  assert.deepEqual(await ids().then((all) => all.filter((id) => !before.includes(id))), [
    messageId.trim(),
  ]);
}

const programs = {
  Node: [process.execPath],
  Bun: [join(folderOf('bun'), 'bin/bun.exe')],
  Deno: [join(folderOf('deno'), 'deno'), 'run', '--allow-all', '--no-remote'],
};

for (const [name, [program = '', ...options]] of Object.entries(programs))
  test(`the client works under ${name}`, async () => {
    await expectOneMessage(async (url) => {
      const env = { PATH: process.env.PATH, HOME: app.folder };
      const args = [...options, 'run.mjs', url, key];
      return (await run(program, args, { cwd: app.folder, env })).stdout;
    });
  });

test('the client works in a Cloudflare Worker', async () => {
  const bundled = await build({
    root: app.folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'esnext',
      lib: { entry: join(app.folder, 'worker.mjs'), formats: ['es'] },
    },
  });
  const [one] = Array.isArray(bundled) ? bundled : [bundled];
  assert.ok(one !== undefined && 'output' in one);
  const script = one.output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
  const { Miniflare } = createRequire(import.meta.url)(folderOf('miniflare'));
  await expectOneMessage(async (url) => {
    const worker = new Miniflare({
      modules: true,
      script,
      compatibilityDate: '2025-10-01',
      bindings: { url, key },
    });
    try {
      const response = await worker.dispatchFetch('http://worker.test/');
      return await response.text();
    } finally {
      await worker.dispose();
    }
  });
});
