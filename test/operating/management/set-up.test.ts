import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-link.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { password } from '../../support/session-world.ts';
import { signIn } from '../../support/sign-in.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const page = new ManagementClient(service, undefined, { 'x-signalpost-request': '1' });
const nobody = {
  email: 'Ann@bücher.test',
  name: 'Ann',
  password,
  accountId: 'shop',
  accountName: 'Shop',
};

/** The code of a new setup link. */
async function newCode(): Promise<string> {
  const link = await createOneTimeLink(database, 'set-up', service.url);
  return new URL(link).hash.replace('#set-up=', '');
}

test('the first owner is created once with the setup code, signed in and made operator', async () => {
  assert.deepEqual((await page.get('/set-up')).body, { open: true, demo: false });
  assert.equal((await page.post('/set-up', { ...nobody, code: 'x' })).status, 403, 'another code');
  const owner = { ...nobody, code: await newCode() };
  const bare = new ManagementClient(service, undefined);
  assert.equal((await bare.post('/set-up', owner)).status, 403, 'not without the header');
  const foreign = await page.post('/set-up', owner, { 'sec-fetch-site': 'cross-site' });
  assert.equal(foreign.status, 403, 'not from another site');
  const short = await page.post('/set-up', { ...owner, password: 'short' });
  assert.equal(short.status, 422, 'the code is kept for the next attempt');
  const common = await page.post('/set-up', { ...owner, password: 'iloveyou12345' });
  assert.equal(common.status, 422);
  assert.match(common.text, /password is too easy to guess\. It’s like one of the most common/);
  const made = await page.post('/set-up', owner);
  assert.equal(made.status, 201, made.text);
  const cookie = (made.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const ann = new ManagementClient(service, undefined, { cookie });
  const { body: audit } = await ann.get('/accounts/shop/audit');
  assert.deepEqual(
    (audit.items as { kind: string }[]).map(({ kind }) => kind),
    ['set_up'],
  );
  const found = await ann.get('/accounts/shop/audit?email=ann@b%C3%BCcher.test');
  assert.equal((found.body.items as unknown[]).length, 1, found.text);
  // Every spelling of the address is the same person.
  assert.ok(await signIn(service, 'Ann@Bücher.test'));
  const me = await ann.get('/me');
  assert.equal(me.body.operator, true);
  assert.deepEqual(
    (me.body.accounts as { role: string }[]).map(({ role }) => role),
    ['owner'],
  );
  const { body: account } = await ann.get('/accounts/shop');
  assert.deepEqual(account.addOns, ['transactional'], 'only set-up can add it');
  assert.deepEqual((await page.get('/set-up')).body, { open: false, demo: false });
  const again = await page.post('/set-up', { ...owner, email: 'eve@shop.test', accountId: 'eve' });
  assert.equal(again.status, 409);
});

test('setup stays open after the demo and closes once an owner exists', async () => {
  await database.pool.query('delete from account where not system; delete from person');
  await database.pool.query(
    "insert into person (id, email, name) values (gen_random_uuid(), 'demo@shop.test', 'D')",
  );
  assert.equal((await page.get('/set-up')).body.open, false);
  await database.pool.query('update installation set demo_applied_at = now()');
  assert.deepEqual((await page.get('/set-up')).body, { open: true, demo: true });
  assert.equal(
    (
      await page.post('/set-up', {
        ...nobody,
        email: 'demo@shop.test',
        code: await newCode(),
      })
    ).status,
    409,
  );
});
