import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandFiles } from '../../../src/host/brand/brand-files.ts';
import { brandColors, brandFont } from '../../../src/host/brand/tokens.ts';
import { sendRequest } from '../../support/send-request.ts';
import { openSessionWorld, password } from '../../support/session-world.ts';
import { systemMailTo } from '../../support/system-mail-reader.ts';
import { TestBrowser } from '../../support/test-browser.ts';

const { service, world } = await openSessionWorld();
const person = await world.addPerson();
const client = await world.addIntegration();

test('sign-in, consent, personal pages, console, documentation and notices share one style sheet, font and icon', async () => {
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/me'), { email: person.email, password });
  const consent = new URLSearchParams({
    scope: 'PRODUCTION',
    response_type: 'code',
    client_id: client.clientId,
  });
  const shared = brandFiles
    .map((file) => file.url)
    .filter((path) => /brand\.css$|icon\.svg$|latin\.woff2$/.test(path));
  assert.equal(shared.length, 3);
  const own = ['/me', '/me/password', '/me/second-factor', `/authorize?${consent}`];
  const open = ['/sign-in', '/forgot-password', '/authorize?client_id=nobody', '/docs'];
  for (const path of [...own, ...open, '/console', `/verify-sender/${'A'.repeat(43)}`]) {
    const { text } = own.includes(path)
      ? await browser.open(path)
      : await sendRequest(`${service.url}${path}`, { headers: { accept: 'text/html' } });
    for (const file of shared) assert.ok(text.includes(file), `${path} has ${file}`);
  }
  for (const file of shared) assert.equal((await sendRequest(`${service.url}${file}`)).status, 200);
});

test('mail of the service has the colors and the font of the pages', async () => {
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/forgot-password'), { email: person.email });
  const { html } = await systemMailTo(service.url, person.email, /password/);
  const sheet = brandFiles.find((file) => /brand\.css$/.test(file.url))?.content.toString() ?? '';
  for (const color of [brandColors.button[0], brandColors.ink[0], brandColors.line[0]]) {
    assert.ok(html.toLowerCase().includes(color.toLowerCase()), color);
    assert.ok(sheet.toLowerCase().includes(color.toLowerCase()), color);
  }
  assert.match(html, new RegExp(brandFont.split(',')[0]?.replaceAll(/['"]/g, '') ?? ''));
});
