import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash } from '@node-rs/argon2';
import { TemporarilyUnavailable } from '../../../src/accounts/oauth/oauth-errors.ts';
import type { GuessOrigin } from '../../../src/accounts/sign-in/login-throttle.ts';
import { PasswordChecker } from '../../../src/accounts/sign-in/password-checker.ts';
import { policies } from '../../../src/base/fairness/policies.ts';
import { password, passwordFields, postToken, SessionWorld } from '../../support/session-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const origin: GuessOrigin = { kind: 'sign-in', remoteAddress: '192.0.2.1', device: undefined };

test('a password matches only its own hash, and an unknown person’s never matches', async () => {
  const passwords = new PasswordChecker();
  const stored = await hash(password);
  assert.equal(await passwords.check(stored, password, origin), true);
  assert.equal(await passwords.check(stored, `${password} `, origin), false);
  assert.equal(await passwords.check(undefined, password, origin), false);
});

test('an unknown person costs the same work as an existing one', async () => {
  const passwords = new PasswordChecker();
  const stored = await hash(password);
  const time = async (passwordHash: string | undefined): Promise<number> => {
    const before = performance.now();
    await passwords.check(passwordHash, 'wrong', origin);
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
  const passwords = new PasswordChecker(64);
  const stored = await hash(password);
  const ended: number[] = [];
  const { perSharer = 0 } = policies.passwords.wait ?? {};
  const checks = Array.from({ length: perSharer + 1 }, async (_, index) => {
    assert.equal(await passwords.check(stored, password, origin), true);
    ended.push(index);
  });
  await assert.rejects(passwords.check(stored, password, origin), TemporarilyUnavailable);
  await Promise.all(checks);
  assert.deepEqual(
    ended,
    ended.toSorted((a, b) => a - b),
    'one after the other',
  );
});

test('a flood of sign-ins from everywhere gets 503 with Retry-After, and those in the queue are checked', async () => {
  const { url, database } = await createTestDatabase();
  // The queue fills only if checks take long.
  const environment = { TRUST_PROXY: '127.0.0.1', PASSWORD_MEMORY: '19' };
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
  const checked = responses.filter((response) => response.body.error === 'invalid_grant');
  assert.ok(checked.length >= (policies.passwords.wait?.perSharer ?? Infinity));
});
