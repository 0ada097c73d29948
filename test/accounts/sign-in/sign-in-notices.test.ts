import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { type CapturedMail, readInbox } from '../../support/inbox-client.ts';
import { openManagedShop } from '../../support/management-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import {
  openSessionWorld,
  password,
  passwordFields,
  postToken,
} from '../../support/session-world.ts';
import { addSender } from '../../support/shop.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, clock, service, world } = await openSessionWorld({
  movesClock: true,
  environment: { TRUST_PROXY: '127.0.0.1' },
});

async function signIn(
  email: string,
  {
    browser,
    typed = password,
    from = '192.0.2.1',
  }: { browser?: TestBrowser; typed?: string; from?: string } = {},
): Promise<[TestBrowser, VisitedPage]> {
  const used =
    browser ??
    new TestBrowser(service.url, {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'x-forwarded-for': from,
    });
  return [used, await used.submit(await used.open('/me'), { email, password: typed })];
}

/** Security notices to an address, once there are this many. */
async function noticesTo(email: string, count: number): Promise<CapturedMail[]> {
  return waitFor(`${count} notices`, async () => {
    const mails = await readInbox(service.url, `?to=${encodeURIComponent(email)}`);
    return mails.length >= count && mails;
  });
}

async function queuedNotices(personId: string): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int as count from audit_event where person_id = $1 and kind = 'sign_in' and outcome = 'success'`,
    [personId],
  );
  return rows[0]?.count;
}

function linkIn(mail: CapturedMail | undefined): string {
  const path = /\/end-sessions\/[\w.-]+/.exec(mail?.html ?? '')?.[0];
  assert.ok(path, mail?.html ?? 'no mail');
  return path;
}

test('ASVS 4.0.3 2.2.3: a sign-in with a new browser is told to the person, but not the first one or one of a known browser', async () => {
  const { id, email } = await world.addPerson();
  const [first] = await signIn(email);
  const page = await first.open('/me');
  await first.submit(page, {}, '/sign-out');
  await signIn(email, { browser: first });
  await signIn(email, { from: '198.51.100.7' });
  assert.equal(await queuedNotices(id), 3);
  const [mail, ...others] = await noticesTo(email, 1);
  assert.equal(others.length, 0);
  assert.equal(mail?.subject, 'New sign-in');
  assert.match(
    mail?.html ?? '',
    /a browser that wasn’t used before: Firefox on Linux, from 198\.51\.100\.7\./,
  );
});

test('ASVS 4.0.3 2.2.3: delayed guesses are told to the person once a day, and to nobody else', async () => {
  const { email } = await world.addPerson();
  const guess = async (from: string) => {
    for (let count = 0; count < 8; count += 1) await signIn(email, { typed: 'wrong', from });
  };
  await guess('203.0.113.9');
  const [mail] = await noticesTo(email, 1);
  assert.equal(mail?.subject, 'Sign-in attempts are being slowed down');
  assert.match(mail?.html ?? '', /last from 203\.0\.113\.9\. Further attempts are delayed/);
  await guess('203.0.113.10');
  await clock.advance(25 * 3_600_000);
  await guess('203.0.113.11');
  const mails = await noticesTo(email, 2);
  assert.equal(mails.length, 2, 'none for the second flood of the day');
  for (let count = 0; count < 8; count += 1)
    await signIn('nobody@nowhere.test', { typed: 'wrong', from: '203.0.113.12' });
  assert.deepEqual(await readInbox(service.url, '?to=nobody@nowhere.test'), []);
  await clock.reset();
});

test('the link of a notice signs the person out everywhere, with a click and for a week only', async () => {
  const { email } = await world.addPerson();
  const [owner] = await signIn(email);
  const [thief] = await signIn(email, { from: '198.51.100.8' });
  const client = await world.addIntegration();
  const { body } = await postToken(service, passwordFields({ email }, client));
  const isAccepted = async () =>
    (
      await sendRequest(`${service.url}/api/1/list`, {
        headers: { authorization: `Bearer ${String(body.access_token)}` },
      })
    ).status !== 401;
  assert.equal(await isAccepted(), true);
  const [mail] = await noticesTo(email, 1);
  const link = linkIn(mail);
  const anyone = new TestBrowser(service.url);
  const page = await anyone.open(link);
  assert.match(page.text, /<h1>Sign out everywhere\?/);
  assert.match((await thief.open('/me')).text, /<h1>Sign-in and security/, 'opening ends nothing');
  const done = await anyone.submit(page, {}, '/end-sessions');
  assert.match(done.text, /Signed out everywhere.*href="\/forgot-password"/s);
  for (const browser of [owner, thief])
    assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
  await waitFor('the token to be revoked', async () => !(await isAccepted()));
  const forged = `${link.slice(0, -2)}xx`;
  assert.equal((await anyone.open(forged)).status, 404);
  await clock.advance(7 * 86_400_000 + 60_000);
  assert.equal((await anyone.open(link)).status, 404);
  assert.equal((await anyone.request(link, {})).status, 404);
  await clock.reset();
});

test('ASVS 4.0.3 2.2.3: an account’s security address hears of the sign-ins of its owners and operators, not of others, and can’t act for them', async () => {
  const { shop, owner, path, as } = await openManagedShop(database, service, '46109');
  const security = `security@shop46109.test`;
  const unproven = await owner.put(`${path}/policy`, { securityAddress: security });
  assert.match(unproven.text, /securityAddress isn’t confirmed\. Verify its domain/);
  await addSender(database, shop.id, security);
  assert.equal((await owner.put(`${path}/policy`, { securityAddress: security })).status, 200);
  await waitFor('the owner to be told', async () =>
    (await noticesTo(shop.owner.email, 1)).some(
      ({ subject }) => subject === 'Security address changed',
    ),
  );
  await signIn(shop.owner.email, { from: '198.51.100.20' });
  const [mail] = await noticesTo(security, 1);
  assert.equal(mail?.subject, 'Security notice about a person of your account');
  assert.match(mail?.html ?? '', /Firefox on Linux, from 198\.51\.100\.20\./);
  assert.match(mail?.html ?? '', /owner or operator in the account Shop 46109 \(46109\)/);
  assert.doesNotMatch(mail?.html ?? '', /end-sessions/);
  const operator = await world.addPerson({ accounts: ['46109'] });
  const colleague = await world.addPerson({ accounts: ['46109'] });
  await setOperator(database.kysely, operator.id, true);
  for (const { email } of [operator, colleague]) {
    await signIn(email, { from: '198.51.100.21' });
    await signIn(email, { from: '198.51.100.22' });
    await noticesTo(email, 1);
  }
  for (let count = 0; count < 8; count += 1)
    await signIn(shop.owner.email, { typed: 'wrong', from: '203.0.113.40' });
  await owner.post(`${path}/keys`, { name: 'CI', scopes: ['messages:send'] });
  const viewer = await as('viewer');
  assert.equal((await viewer.put(`${path}/policy`, { securityAddress: '' })).status, 403);
  const subjects = async () => (await noticesTo(security, 4)).map(({ subject }) => subject).sort();
  assert.deepEqual(await subjects(), [
    'New API key',
    ...Array<string>(3).fill('Security notice about a person of your account'),
  ]);
  assert.equal((await owner.put(`${path}/policy`, {})).status, 200);
  const told = await noticesTo(security, 5);
  assert.equal(told.filter(({ subject }) => subject === 'Security address changed').length, 1);
});
