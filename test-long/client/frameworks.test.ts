import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { newWebhookSecret, signWebhook } from '../../src/outcomes/webhook/sign-webhook.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { installTools } from '../support/tools.ts';

/** The webhook handlers of docs/typescript.md, in the frameworks that they are for. */
const root = join(import.meta.dirname, '../..');
const folderOf = await installTools();
const names = ['express', 'fastify', 'hono', 'next'];
const links = [...names, '@types/express'].map((name) => [name, folderOf(name)]);
const app = await createClientApp(Object.fromEntries(links));
const secret = newWebhookSecret();

/** Serves a handler; those of Next.js and Hono take a `Request`. */
const serve = `
import { createServer } from 'node:http';
const [name] = process.argv.slice(2);
const { app, POST } = await import('./' + name + '.ts');
const { NextRequest } = await import('next/server.js');
const fetching = (handle) =>
  createServer(async (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const body = Buffer.concat(await Array.fromAsync(incoming));
    const { status } = await handle('http://127.0.0.1' + url, { method, headers, body });
    outgoing.writeHead(status).end();
  });
const servers = {
  express: () => createServer(app),
  fastify: () => app.ready().then(() => app.server),
  hono: () => fetching((url, init) => app.fetch(new Request(url, init))),
  next: () => fetching((url, init) => POST(new NextRequest(url, init))),
};
const server = await servers[name]();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

before(async () => {
  for (const { above, text } of codeBlocks(root, 'docs/typescript.md')) {
    const [, name] = /^<!-- run in test-system: (\w+) -->$/.exec(above) ?? [];
    if (name !== undefined) await writeFile(join(app.folder, `${name}.ts`), text);
  }
  await writeFile(join(app.folder, 'serve.mjs'), serve);
});

/** Starts a handler in a process of its own. @returns its URL, and the lines that it prints */
async function start(name: string) {
  const child = spawn(process.execPath, ['serve.mjs', name], {
    cwd: app.folder,
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  return { url: `http://127.0.0.1:${await next()}/hooks/mail`, next };
}

test('the handlers compile under strict', async () => {
  const files = names.map((name) => `${name}.ts`);
  const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'node'];
  assert.equal(await app.compile(files, ...options, '--skipLibCheck', '--noUnusedLocals'), '');
});

/** Written so that parsing and printing it again would change the bytes. */
const body = '{ "type":"message.delivered",  "data": {"messageId":"m-\\u0031"} }';

for (const name of names)
  test(`the handler for ${name} takes what is signed, and refuses the rest`, async () => {
    const { url, next } = await start(name);
    const signed = signWebhook('e-1', Math.floor(Date.now() / 1_000), body, [secret]);
    const headers = { ...signed, 'content-type': 'application/json' };
    const post = async (sent: string) =>
      (await fetch(url, { method: 'POST', headers, body: sent })).status;
    assert.equal(await post(body), 204);
    assert.equal(await next(), 'message.delivered m-1');
    assert.equal(await post(body.replace('m-', 'n-')), 401);
  });
