import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { routeLimits } from '../../../src/host/http/limits/route-limits.ts';
import { registerGuideRoutes } from '../../../src/operating/management/openapi/document-routes.ts';

const folder = await mkdtemp(join(tmpdir(), 'guide-'));
after(() => rm(folder, { recursive: true }));
await mkdir(join(folder, 'site/operate'), { recursive: true });
await writeFile(join(folder, 'site/index.html'), '<title>Documentation</title>');
await writeFile(join(folder, 'site/operate/deploy.html'), '<title>Deploy</title>');
await writeFile(join(folder, 'site/operate.html'), '<title>Operate</title>');
await writeFile(join(folder, 'site/operate/list.json'), '[]');
await writeFile(join(folder, 'secret.html'), 'secret');

function start(site: string) {
  const http = createHttp({ log: createLog('silent'), trustProxy: [], routes: routeLimits });
  registerGuideRoutes(http, join(folder, site));
  after(() => http.close());
  return http;
}

test('the documentation is below /docs/guide, by the names of its pages, with scripts of this origin only', async () => {
  const http = start('site');
  for (const [path, title] of [
    ['/docs/guide', 'Documentation'],
    ['/docs/guide/', 'Documentation'],
    ['/docs/guide/operate/deploy', 'Deploy'],
    // A page with a folder of its name.
    ['/docs/guide/operate', 'Operate'],
  ] as const) {
    const { statusCode, body, headers } = await http.inject(path);
    assert.equal(statusCode, 200, path);
    assert.ok(body.includes(`<title>${title}</title>`));
    assert.match(String(headers['content-type']), /^text\/html/);
    const policy = String(headers['content-security-policy']).split('; ');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(rule), rule);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
  assert.equal((await http.inject('/docs/guide/operate/list.json')).body, '[]');
});

test('ASVS 4.0.3 12.3.1: only files of the documentation can be read', async () => {
  const http = start('site');
  for (const path of ['../secret', '..%2fsecret.html', '%2e%2e/secret.html', 'nothing'])
    assert.equal((await http.inject(`/docs/guide/${path}`)).statusCode, 404, path);
});

test('documentation that isn’t built is a 404 that says how to build it', async () => {
  const response = await start('missing').inject('/docs/guide/quickstart');
  assert.equal(response.statusCode, 404);
  assert.match(response.body, /npm run docs:site/);
});
