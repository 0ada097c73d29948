import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowDown } from '../../src/accounts/oauth/oauth-errors.ts';
import { type GuessOrigin, LoginThrottle } from '../../src/accounts/sign-in/login-throttle.ts';
import { WrongGuessStore } from '../../src/accounts/sign-in/wrong-guess-store.ts';
import { runEarlier } from '../../test/support/run-earlier.ts';
import {
  openSessionWorld,
  password,
  passwordFields,
  postToken,
  SessionWorld,
} from '../../test/support/session-world.ts';
import { TestBrowser } from '../../test/support/test-browser.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

// What strangers' guesses cost decides who waits.
const environment = { TRUST_PROXY: '127.0.0.1', PASSWORD_MEMORY: '19' };
const { database, clock, service, world, startOther } = await openSessionWorld({
  movesClock: true,
  environment,
});
const nodes = [service, await startOther()] as const;
const client = await world.addIntegration();
const other = await world.addIntegration();

const addresses = Array.from({ length: 60 }, (_, index) => `198.51.100.${index + 1}`);

async function signIn(
  browser: TestBrowser,
  email: string,
  given = password,
): Promise<{ status: number }> {
  return browser.submit(await browser.open('/sign-in'), { email, password: given });
}

function stranger(address: string, node = 0): TestBrowser {
  return new TestBrowser((nodes[node] ?? nodes[0]).url, { 'x-forwarded-for': address });
}

/** Five wrong passwords from each of sixty addresses, on both nodes. @returns how many were checked */
async function floodSignIn(email: string): Promise<number> {
  const statuses = await Promise.all(
    addresses.map(async (address, index) => {
      const browser = stranger(address, index % 2);
      const found: number[] = [];
      for (let guess = 0; guess < 5; guess += 1)
        found.push((await signIn(browser, email, 'wrong')).status);
      return found;
    }),
  );
  for (const status of statuses.flat()) assert.ok([401, 429, 503].includes(status), `${status}`);
  return statuses.flat().filter((status) => status === 401).length;
}

async function floodToken(email: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let guess = 0; guess < 5; guess += 1)
    for (let from = 0; from < addresses.length; from += 20)
      await Promise.all(
        addresses.slice(from, from + 20).map(async (address, index) => {
          const fields = { ...passwordFields({ email }, client), password: 'wrong' };
          const node = nodes[index % 2] ?? nodes[0];
          const { status } = await postToken(node, fields, { 'x-forwarded-for': address });
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }),
      );
  return counts;
}

test('ASVS 4.0.3 2.2.1: 300 wrong passwords from 60 addresses are throttled, and the person’s own browser is not', async () => {
  const { email } = await world.addPerson();
  const own = stranger('192.0.2.1');
  assert.equal((await signIn(own, email)).status, 200);
  await own.submit(await own.open('/me'), {}, '/sign-out');
  const checked = await floodSignIn(email);
  assert.ok(checked <= 36, `${checked} of 300 were checked`);
  // The person's delay now applies to unknown browsers.
  const refused = await runEarlier(clock, () => signIn(stranger('192.0.2.2'), email));
  assert.equal(refused.status, 429);
  assert.equal((await runEarlier(clock, () => signIn(own, email))).status, 200);
  // The delay is a minute at most.
  await clock.advance(60_000);
  assert.equal((await signIn(stranger('192.0.2.3'), email)).status, 200);
});

test('ASVS 4.0.3 2.2.1: strangers can check fewer than 100 passwords an hour for one person, from any number of addresses', async () => {
  const began = clock.now();
  const throttle = new LoginThrottle(
    new WrongGuessStore(database),
    testKey,
    clock,
    (milliseconds) => clock.advance(milliseconds),
  );
  let checked = 0;
  for (let number = 0; clock.now() < began + 3_600_000; number += 1) {
    const origin: GuessOrigin = {
      kind: 'sign-in',
      remoteAddress: `2001:db8:${number.toString(16)}::1`,
      device: undefined,
    };
    try {
      await throttle.attempt('password victim@shop.test', origin, async () => {
        checked += 1;
        return undefined;
      });
    } catch (error) {
      if (!(error instanceof SlowDown)) throw error;
      await clock.advance(error.retryAfter * 1_000);
    }
  }
  assert.ok(checked < 100, `${checked} were checked`);
});

test('ASVS 4.0.3 2.2.1: wrong passwords from a known browser count against that browser alone', async () => {
  const { email } = await world.addPerson();
  const own = stranger('192.0.2.4');
  assert.equal((await signIn(own, email)).status, 200);
  await own.submit(await own.open('/me'), {}, '/sign-out');
  for (let guess = 0; guess < 5; guess += 1)
    assert.equal((await signIn(own, email, 'wrong')).status, 401);
  assert.equal((await runEarlier(clock, () => signIn(own, email))).status, 429);
  assert.equal((await runEarlier(clock, () => signIn(stranger('192.0.2.4'), email))).status, 200);
});

test('RFC 6749 section 10.10: 300 wrong passwords from a client are throttled, and they never cause its right one to be refused', async () => {
  const person = await world.addPerson();
  const counts = await floodToken(person.email);
  assert.ok((counts.get(429) ?? 0) > 200, JSON.stringify([...counts]));
  const right = await runEarlier(clock, () =>
    postToken(nodes[0], passwordFields(person, client), { 'x-forwarded-for': '192.0.2.5' }),
  );
  assert.equal(right.status, 200);
  const wrong = { ...passwordFields(person, other), password: 'wrong' };
  const elsewhere = await postToken(nodes[1], wrong, { 'x-forwarded-for': '192.0.2.6' });
  assert.equal(elsewhere.body.error, 'invalid_grant', 'another client’s guesses count apart');
});

test('ASVS 4.0.3 2.2.1: a client of one account can’t guess the passwords of other accounts’ users without being refused', async () => {
  const victims = new SessionWorld(database, '2000');
  await victims.addAccount();
  const elsewhere = await victims.addPerson();
  const both = await victims.addPerson({ accounts: ['1000', '2000'] });
  for (const { email } of [elsewhere, both]) {
    const counts = await floodToken(email);
    const checked = counts.get(400) ?? 0;
    assert.ok(checked <= 36, `${checked} of 300 were checked`);
    const right = passwordFields({ email }, client);
    const { status } = await postToken(nodes[0], right, { 'x-forwarded-for': '192.0.2.8' });
    assert.equal(status, 429, 'the right password among so many is refused, too');
  }
  await clock.advance(60_000);
  const later = passwordFields(elsewhere, client);
  const { status } = await postToken(nodes[0], later, { 'x-forwarded-for': '192.0.2.9' });
  assert.equal(status, 200);
});

test('ASVS 4.0.3 2.2.1: wrong passwords on the sign-in page never refuse a token, not even at the same address', async () => {
  const person = await world.addPerson();
  const from = '192.0.2.7';
  for (let guess = 0; guess < 8; guess += 1) await signIn(stranger(from), person.email, 'wrong');
  const response = await runEarlier(clock, () =>
    postToken(nodes[0], passwordFields(person, client), { 'x-forwarded-for': from }),
  );
  assert.equal(response.status, 200);
});

test('RFC 6749 section 2.3.1: without the client’s secret, no password is checked or counted', async () => {
  const person = await world.addPerson();
  const before = await countGuesses();
  const fields = { ...passwordFields(person, client), client_secret: 'another' };
  for (let guess = 0; guess < 10; guess += 1)
    assert.equal((await postToken(nodes[0], fields)).status, 401);
  assert.equal(await countGuesses(), before);
});

async function countGuesses(): Promise<number> {
  const { rows } = await database.pool.query('select count(*)::int as count from wrong_guess');
  return rows[0]?.count;
}

test('ASVS 4.0.3 11.1.4: right client secrets get their tokens while strangers guess passwords from many networks', async () => {
  const people = await Promise.all(Array.from({ length: 4 }, () => world.addPerson()));
  let isOver = false;
  let refused = 0;
  const strangers = Array.from({ length: 100 }, async (_, network) => {
    const browser = stranger(`198.18.${network}.1`);
    const page = await browser.open('/sign-in');
    for (let guess = 0; !isOver; guess += 1) {
      const email = `person${network}-${guess}@shop.test`;
      const { status } = await browser.submit(page, { email, password: 'wrong' });
      if (status === 503) refused += 1;
    }
  });
  try {
    await waitFor('a full queue of passwords', () => refused > 0);
    for (let round = 0; round < 5; round += 1)
      for (const person of people) {
        const from = { 'x-forwarded-for': '192.0.2.200' };
        const { status, body } = await postToken(nodes[0], passwordFields(person, client), from);
        assert.equal(status, 200, JSON.stringify(body));
      }
  } finally {
    isOver = true;
    await Promise.all(strangers);
  }
});

test('ASVS 4.0.3 4.2.2: the form of a stranger works only from the network that it was sent to', async () => {
  const { email } = await world.addPerson();
  const page = stranger('192.0.2.30');
  const elsewhere = stranger('203.0.113.30');
  const form = await page.open('/sign-in');
  for (const [name, value] of page.cookies) elsewhere.cookies.set(name, value);
  const refused = await elsewhere.submit(form, { email, password });
  assert.equal(refused.status, 403);
  // The page that answers is good for the new network.
  const next = await elsewhere.submit(refused, { email, password });
  assert.equal(next.status, 200);
  assert.doesNotMatch(next.url, /sign-in/);
});
