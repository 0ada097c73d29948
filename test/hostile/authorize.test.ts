import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '../support/session-world.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { openSharedWorld } from '../support/test-shop.ts';

const { database, service, world } = await openSharedWorld();
const attacker = await world.addIntegration({ redirectUri: 'https://phishing.test/sign-in' });

/** Links with an error, which need no consent. */
const traps = [
  '',
  'scope=admin&response_type=code',
  'scope=PRODUCTION',
  'scope=PRODUCTION&response_type=token',
  'scope=PRODUCTION&response_type=code&state=a&state=b',
  'scope=PRODUCTION&response_type=code&code_challenge=short',
  `redirect_uri=${encodeURIComponent(attacker.redirectUri)}`,
  'prompt=none',
].map((rest) => `/authorize?client_id=${attacker.clientId}&${rest}`);

/** Opens a URL like a browser and returns the target of each redirect. */
async function redirectsOf(address: string, init: RequestInit = {}): Promise<string[]> {
  const seen: string[] = [];
  let next = new URL(address, service.url);
  for (let step = 0; step < 5; step += 1) {
    const response = await fetch(next, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) return seen;
    next = new URL(location, next);
    seen.push(next.href);
  }
  return seen;
}

for (const trap of traps)
  test(`RFC 9700 4.11.2: a stranger is not sent on to the integration's page by ${trap.slice(0, 200).replace(attacker.clientId, 'CLIENT')}`, async () => {
    for (const init of [
      {},
      { headers: { cookie: 'sp_session=guessed' } },
      { method: 'POST', body: new URLSearchParams({ decision: 'deny' }) },
    ]) {
      const seen = await redirectsOf(trap, init);
      assert.notEqual(seen.length, 0);
      for (const address of seen) assert.equal(new URL(address).origin, service.url, address);
    }
  });

test('RFC 6749 4.1.2.1: the integration gets the error as soon as the person has signed in', async () => {
  const { email } = await world.addPerson();
  const browser = new TestBrowser(service.url);
  const page = await browser.open(
    `/authorize?client_id=${attacker.clientId}&scope=admin&response_type=code&state=kept`,
  );
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  const response = new URL((await browser.submit(page, { email, password })).location ?? '');
  assert.equal(response.origin, 'https://phishing.test');
  assert.equal(response.searchParams.get('error'), 'invalid_scope');
  assert.equal(response.searchParams.get('state'), 'kept');
});

test('RFC 9700 4.11.2: a password alone, with the second factor missing, does not count as signed in', async () => {
  const { email, id } = await world.addPerson();
  await database.pool.query(
    "insert into second_factor (person_id, secret, confirmed_at) values ($1, '\\x00', now())",
    [id],
  );
  const browser = new TestBrowser(service.url);
  const page = await browser.open(traps[1] ?? '');
  const code = await browser.submit(page, { email, password });
  assert.match(code.text, /code/i);
  assert.equal((await browser.open(traps[1] ?? '')).location, undefined);
});
