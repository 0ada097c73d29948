import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash } from '@node-rs/argon2';
import { TemporarilyUnavailable } from '../../src/session/oauth-errors.ts';
import { PasswordChecker } from '../../src/session/password-checker.ts';
import { password, passwordFields, postToken, SessionWorld } from '../support/session-world.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

test('a password matches only its own hash, and an unknown person’s never matches', async () => {
  const passwords = new PasswordChecker();
  const stored = await hash(password);
  assert.equal(await passwords.check(stored, password), true);
  assert.equal(await passwords.check(stored, `${password} `), false);
  assert.equal(await passwords.check(undefined, password), false);
});

test('an unknown person costs the same work as an existing one', async () => {
  const passwords = new PasswordChecker();
  const stored = await hash(password);
  const time = async (passwordHash: string | undefined): Promise<number> => {
    const before = performance.now();
    await passwords.check(passwordHash, 'wrong');
    return performance.now() - before;
  };
  let [known, unknown] = [Infinity, Infinity];
  const areSimilar = () => unknown > known * 0.67 && unknown < known * 1.5;
  // Other load only adds time: with enough rounds, the minimum is that of the work alone.
  for (let round = 0; round < 15 || (round < 300 && !areSimilar()); round += 1) {
    known = Math.min(known, await time(stored));
    unknown = Math.min(unknown, await time(undefined));
  }
  assert.ok(areSimilar(), `${known} ms and ${unknown} ms`);
});

test('a full queue refuses at once, and waiting checks run in order', async () => {
  const passwords = new PasswordChecker();
  const stored = await hash(password);
  const checks = Array.from({ length: 34 }, () => passwords.check(stored, password));
  await assert.rejects(passwords.check(stored, password), TemporarilyUnavailable);
  assert.deepEqual(new Set(await Promise.all(checks)), new Set([true]));
  assert.equal(await passwords.check(stored, password), true);
});

test('processes of one node share its cap: each of two checks one password at a time, and half as many wait', async () => {
  const share = new PasswordChecker(2);
  const stored = await hash(password);
  const ended: number[] = [];
  const check = async (index: number) => {
    await share.check(stored, password);
    ended.push(index);
  };
  const checks = Array.from({ length: 17 }, (_, index) => check(index));
  await assert.rejects(share.check(stored, password), TemporarilyUnavailable);
  await Promise.all(checks);
  assert.deepEqual(
    ended,
    ended.toSorted((a, b) => a - b),
    'one after the other',
  );
  const busyChecker = new PasswordChecker(64);
  assert.equal(await busyChecker.check(stored, password), true);
});

test('a flood of sign-ins from everywhere gets 503 with Retry-After, and those in the queue are checked', async () => {
  const { url, database } = await createTestDatabase();
  const environment = { TRUST_PROXY: '127.0.0.1' };
  const service = await startTestService({ databaseUrl: url, environment });
  const world = new SessionWorld(database);
  await world.addAccount();
  const client = await world.addIntegration();
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      postToken(service, passwordFields({ email: `guess${index}@shop.test` }, client), {
        'x-forwarded-for': `192.0.2.${index}`,
      }),
    ),
  );
  const busy = responses.filter((response) => response.status === 503);
  assert.ok(busy.length > 0);
  for (const response of busy) {
    assert.equal(response.headers.get('retry-after'), '1');
    assert.deepEqual(Object.keys(response.body), ['error', 'error_description']);
    assert.equal(response.headers.get('cache-control'), 'no-store');
  }
  assert.ok(responses.filter((response) => response.body.error === 'invalid_grant').length >= 34);
});
