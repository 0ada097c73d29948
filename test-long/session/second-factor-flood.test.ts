import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Secret, TOTP } from 'otpauth';
import { password, SessionWorld } from '../../test/support/session-world.ts';
import { TestBrowser } from '../../test/support/test-browser.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import type { CodeGuesses } from './guess-codes.ts';

const { url, database } = await createTestDatabase();
const service = await startTestService({
  databaseUrl: url,
  worker: false,
  environment: { TRUST_PROXY: '127.0.0.1' },
});
const world = new SessionWorld(database);
await world.addAccount();

const addresses = 1_000;
const guessesPerAddress = 10;
const atOnce = 100;

function codeOf(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + steps * 30_000 });
}

test('ASVS 2.2.1: 10,000 wrong codes from 1,000 addresses let nobody in, and a known browser signs in within a second', async (context) => {
  const { email } = await world.addPerson();
  const own = new TestBrowser(service.url, { 'x-forwarded-for': '192.0.2.1' });
  await own.submit(await own.open('/me'), { email, password });
  const begun = await own.submit(
    await own.open('/me/second-factor'),
    {},
    '/me/second-factor/begin',
  );
  const secret = (/enter this key: <code>([A-Z2-7 ]+)</.exec(begun.text)?.[1] ?? '').replaceAll(
    ' ',
    '',
  );
  await own.submit(begun, { code: codeOf(secret) });
  await own.submit(await own.open('/me'), {}, '/sign-out');
  const start = performance.now();
  const first = await own.submit(await own.open('/me'), { email, password });
  assert.match(first.text, /name="code"/);
  const calm = performance.now() - start;

  // The password is known to the attacker, whose half sign-in is used from every address.
  const attacker = new TestBrowser(service.url, { 'x-forwarded-for': '198.51.100.1' });
  const page = await attacker.submit(await attacker.open('/me'), { email, password });
  const fields = page.forms.find(({ action }) => action === '/sign-in/code')?.fields ?? {};
  const cookie = [...attacker.cookies].map((pair) => pair.join('=')).join('; ');
  const flood = new Worker(new URL('./guess-codes.ts', import.meta.url), {
    workerData: {
      url: service.url,
      cookie,
      fields,
      secret,
      addresses,
      guesses: addresses * guessesPerAddress,
      atOnce,
    } satisfies CodeGuesses,
  });
  await once(flood, 'message');
  const guessed = once(flood, 'message');
  const began = performance.now();
  const half = await own.submit(await own.open('/me'), { email, password });
  const me = await own.submit(half, { code: codeOf(secret, 1) }, '/sign-in/code');
  const delay = performance.now() - began - calm;
  assert.match(me.text, /<h1>Sign-in and security/);
  const [statuses] = (await guessed) as [Map<number, number>];
  context.diagnostic(
    `${JSON.stringify(Object.fromEntries(statuses))}, own sign-in ${delay.toFixed(0)} ms later than without`,
  );
  assert.equal(statuses.get(303), undefined, 'nobody got in');
  assert.ok((statuses.get(429) ?? 0) > 9_000);
  assert.ok(delay < 1_000, `${delay} ms`);
});
