import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { registerConsoleRoutes } from '../../../src/host/console-server/console-routes.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { routeLimits } from '../../../src/host/http/limits/route-limits.ts';

const folder = await mkdtemp(join(tmpdir(), 'console-'));
after(() => rm(folder, { recursive: true }));
await mkdir(join(folder, 'assets'));
await writeFile(join(folder, 'assets/index-1a2b3c.js'), 'console');
await writeFile(join(folder, 'assets/index-1a2b3c.js.br'), 'compressed');

function start() {
  const http = createHttp({ log: createLog('silent'), trustProxy: [], routes: routeLimits });
  registerConsoleRoutes(http, () => 'https://mail.example/images/', folder);
  after(() => http.close());
  return http;
}

test('without a build, the page says what to do; once built, the console appears without a restart', async () => {
  const http = start();
  const before = await http.inject('/console');
  assert.equal(before.statusCode, 503);
  assert.match(before.body, /npm run console/);
  await writeFile(join(folder, 'index.html'), '<meta nonce="CSP_NONCE"><title>Signalpost</title>');
  await writeFile(join(folder, 'frame.html'), '<title>Preview</title>');
  const built = await http.inject('/console/1000/messages?state=bounced');
  assert.equal(built.statusCode, 200);
  assert.match(built.body, /<title>Signalpost<\/title>/);
});

test('each page has its own nonce, runs scripts of this origin only, and can be neither framed nor cached', async () => {
  const http = start();
  const pages = [await http.inject('/console'), await http.inject('/console/')];
  const nonces = pages.map((page) => /nonce="([\w-]{22})"/.exec(page.body)?.[1]);
  assert.notEqual(nonces[0], undefined);
  assert.notEqual(nonces[0], nonces[1]);
  const policy = String(pages[0]?.headers['content-security-policy']);
  assert.ok(policy.includes(`style-src 'self' 'nonce-${nonces[0]}'`), policy);
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /base-uri 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(pages[0]?.headers['cache-control'], 'no-store');
  assert.equal(pages[0]?.headers['x-content-type-options'], 'nosniff');
  assert.equal(pages[0]?.headers['referrer-policy'], 'same-origin');
});

test('the frame for emails has its own origin and loads nothing remote but images that the service hosts', async () => {
  const response = await start().inject('/console/frame');
  const policy = String(response.headers['content-security-policy']);
  assert.match(policy, /sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox$/);
  assert.match(policy, /img-src data: https:\/\/mail\.example\/images\/;/);
  assert.match(policy, /frame-ancestors 'self'/);
  for (const rule of ["default-src 'none'", "form-action 'none'", "base-uri 'none'"])
    assert.ok(policy.split('; ').includes(rule), rule);
  assert.equal(response.headers['x-content-type-options'], 'nosniff');
  assert.equal(response.headers['x-dns-prefetch-control'], 'off');
});

test('files are cached for a year and compressed if the browser supports it', async () => {
  const http = start();
  const url = '/console/assets/index-1a2b3c.js';
  const plain = await http.inject({ url });
  assert.equal(plain.body, 'console');
  assert.match(String(plain.headers['cache-control']), /max-age=31536000, immutable/);
  const small = await http.inject({ url, headers: { 'accept-encoding': 'br' } });
  assert.equal(small.headers['content-encoding'], 'br');
  assert.equal((await http.inject('/console/assets/missing.js')).statusCode, 404);
});

test('the root URL redirects to the console', async () => {
  const response = await start().inject('/');
  assert.equal(response.statusCode, 302);
  assert.equal(response.headers.location, '/console');
});
