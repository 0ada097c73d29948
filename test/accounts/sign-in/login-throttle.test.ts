import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowDown } from '../../../src/accounts/oauth/oauth-errors.ts';
import { type GuessOrigin, LoginThrottle } from '../../../src/accounts/sign-in/login-throttle.ts';
import { WrongGuessStore } from '../../../src/accounts/sign-in/wrong-guess-store.ts';
import { earlierSeconds, runEarlier } from '../../support/run-earlier.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { openSessionWorld, passwordFields, postToken } from '../../support/session-world.ts';
import { testKey } from '../../support/test-service.ts';

const environment = { TRUST_PROXY: '127.0.0.1' };
const { database, clock, service, world, startOther } = await openSessionWorld({
  movesClock: true,
  environment,
});
const nodes = [service, await startOther()] as const;
const client = await world.addIntegration();

function guess(email: string, address: string, right = false, node = 0): Promise<TextResponse> {
  const fields = passwordFields({ email }, client);
  const from = { 'x-forwarded-for': address };
  return postToken(
    nodes[node] ?? nodes[0],
    right ? fields : { ...fields, password: 'wrong' },
    from,
  );
}

test('after five wrong passwords the delay grows, on every node', async () => {
  const { email } = await world.addPerson();
  const from = '192.0.2.1';
  let startedAt = 0;
  for (let count = 0; count < 5; count += 1) {
    startedAt = performance.now();
    assert.equal((await guess(email, from, false, count % 2)).body.error, 'invalid_grant');
  }
  for (const expected of [1, 2, 4, 8]) {
    const refused = await runEarlier(clock, () => guess(email, from, false, 1));
    assert.equal(refused.status, 429);
    assert.equal(refused.body.error, 'slow_down');
    const wait = Number(refused.headers.get('retry-after')) - earlierSeconds;
    const gone = (performance.now() - startedAt) / 1_000;
    assert.ok(wait <= expected && wait >= expected - gone, `${wait} of ${expected} seconds`);
    await clock.advance(expected * 1_000);
    startedAt = performance.now();
    assert.equal((await guess(email, from)).body.error, 'invalid_grant');
  }
  await clock.advance(16_000);
  assert.equal((await guess(email, from, true)).status, 200);
  assert.equal((await guess(email, from)).body.error, 'invalid_grant', 'reset after a success');
});

test("an attacker elsewhere can't slow down a person’s own sign-in", async () => {
  const { email } = await world.addPerson();
  for (let count = 0; count < 12; count += 1) await guess(email, '198.51.100.7');
  const refused = await runEarlier(clock, () => guess(email, '198.51.100.7'));
  assert.equal(refused.status, 429);
  assert.equal((await guess(email, '192.0.2.2', true)).status, 200);
});

test('RFC 6749 4.3.2: a right password of an authenticated client is never refused because of wrong ones', async () => {
  const { email } = await world.addPerson();
  const from = '192.0.2.30';
  for (let count = 0; count < 12; count += 1) await guess(email, from);
  assert.equal((await runEarlier(clock, () => guess(email, from))).status, 429);
  assert.equal((await guess(email, from, true)).status, 200);
});

test('second-factor codes are counted per person, wherever they come from, and separately from passwords', async () => {
  const throttle = new LoginThrottle(new WrongGuessStore(database), testKey, clock);
  const wrong = async () => undefined;
  const from = (remoteAddress: string): GuessOrigin => ({
    kind: 'sign-in',
    remoteAddress,
    device: undefined,
  });
  for (let count = 0; count < 20; count += 1) {
    assert.equal(
      await throttle.attemptCode('code p1', from(`203.0.113.${count}`), wrong),
      undefined,
    );
    assert.equal(
      await throttle.attempt('password p1', from(`203.0.114.${count}`), wrong),
      undefined,
    );
  }
  const right = async () => true;
  await runEarlier(clock, () =>
    assert.rejects(throttle.attemptCode('code p1', from('203.0.115.1'), right), SlowDown),
  );
  assert.equal(await throttle.attemptCode('code p2', from('203.0.115.2'), right), true);
  assert.equal(await throttle.attempt('password p1', from('203.0.115.3'), right), true);
});

test('a refusal is remembered for a second without asking the database', async () => {
  const throttle = new LoginThrottle(new WrongGuessStore(database), testKey, clock);
  const origin = { kind: 'link', remoteAddress: '192.0.2.31' } as const;
  const guessRight = () => throttle.attempt('link p1', origin, async () => true);
  for (let count = 0; count < 5; count += 1)
    await throttle.attempt('link p1', origin, async () => undefined);
  await runEarlier(clock, async () => {
    await assert.rejects(guessRight(), { status: 429, retryAfter: 11 });
    await database.pool.query('delete from wrong_guess');
    await assert.rejects(guessRight(), { status: 429, retryAfter: 11 });
  });
  assert.equal(await guessRight(), true);
});

test('unknown people are throttled like existing ones', async () => {
  for (let count = 0; count < 5; count += 1) await guess('nobody@shop.test', '192.0.2.3');
  const refused = await runEarlier(clock, () => guess('nobody@shop.test', '192.0.2.3'));
  assert.equal(refused.status, 429);
});

test('an address that tries many people is throttled as a whole', async () => {
  const { email } = await world.addPerson();
  for (let count = 0; count < 30; count += 1) await guess(`guess${count}@shop.test`, '192.0.2.4');
  const refused = await runEarlier(clock, () => guess(email, '192.0.2.4'));
  assert.equal(refused.status, 429);
  assert.equal((await guess(email, '192.0.2.5', true)).status, 200);
});

test('an IPv6 network counts as one address', async () => {
  const { email } = await world.addPerson();
  for (let count = 0; count < 5; count += 1) await guess(email, `2001:db8::${count + 1}`);
  const refused = await runEarlier(clock, () => guess(email, '2001:db8::ffff'));
  assert.equal(refused.status, 429);
  assert.equal((await guess(email, '2001:db8:0:1::1', true)).status, 200);
});

test('concurrent guesses on two nodes gain nothing over sequential ones', async () => {
  const { email } = await world.addPerson();
  const startedAt = performance.now();
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, count) => guess(email, '192.0.2.6', false, count % 2)),
  );
  const read = responses.filter((response) => response.body.error === 'invalid_grant');
  // The first delay is a second: a slow machine lets one more through for each that passes.
  const allowed = 5 + Math.floor((performance.now() - startedAt) / 1_000);
  assert.ok(read.length <= allowed, `${read.length} guesses were checked`);
});

test("right passwords don't count against the address they come from", async () => {
  for (let count = 0; count < 8; count += 1) {
    const { email } = await world.addPerson();
    for (let again = 0; again < 5; again += 1)
      assert.equal((await guess(email, '192.0.2.8', true, again % 2)).status, 200);
  }
});

test('an hour after the last wrong password, nothing counts anymore', async () => {
  const { email } = await world.addPerson();
  for (let count = 0; count < 8; count += 1) {
    await guess(email, '192.0.2.7');
    await clock.advance(10_000);
  }
  await clock.advance(3_600_000);
  for (let count = 0; count < 5; count += 1)
    assert.equal((await guess(email, '192.0.2.7')).body.error, 'invalid_grant');
  const refused = await runEarlier(clock, () => guess(email, '192.0.2.7'));
  assert.equal(refused.status, 429);
});
