import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const source = join(import.meta.dirname, '../../packages/client/src');
const folder = await mkdtemp(join(tmpdir(), 'client-size-'));
after(() => rm(folder, { recursive: true }));

/** @returns the code of an app, bundled and minified */
async function bundle(text: string, format: 'es' | 'iife' = 'es'): Promise<string> {
  const entry = join(folder, 'app.ts');
  await writeFile(entry, text);
  const result = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry, formats: [format], name: 'app' },
      minify: true,
      target: 'es2022',
    },
  });
  const [one] = Array.isArray(result) ? result : [result];
  assert.ok(one !== undefined && 'output' in one);
  return one.output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
}

test('an app that only sends takes less than 10 kB of the network', async () => {
  const code = await bundle(`
import { Signalpost } from '${source}/index.ts';
export const send = (url: string, key: string, to: string) =>
  new Signalpost({ url, key }).send('receipt', { to });
`);
  assert.match(code, /idempotency-key/);
  assert.ok(gzipSync(code).length < 10_000, `${gzipSync(code).length} bytes`);
});

test('the element for the person who waits takes less than 3 kB', async () => {
  const code = await bundle(`import '${source}/status.ts';`, 'iife');
  assert.match(code, /signalpost-status/);
  assert.ok(Buffer.byteLength(code) < 3_000, `${Buffer.byteLength(code)} bytes`);
});

test('an app carries only what it uses', async () => {
  const code = await bundle(`
import { webhooks } from '${source}/index.ts';
export const verify = (request: Request) => webhooks.verify(request, { secret: '' });
`);
  assert.match(code, /webhook-signature/);
  assert.doesNotMatch(code, /idempotency-key|refresh_token|suppressions/);
});
