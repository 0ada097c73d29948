import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CapturedMail, readInbox } from '../../support/inbox-client.ts';
import { runEarlier } from '../../support/run-earlier.ts';
import { password, SessionWorld } from '../../support/session-world.ts';
import { openShop } from '../../support/shop.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url, database, clock } = await createTestDatabase();
const service = await startTestService({
  databaseUrl: url,
  clock,
  environment: { TRUST_PROXY: '127.0.0.1' },
});
const shop = await openShop(database);
const world = new SessionWorld(database, shop.id);
const next = 'a password of my own';
let visitors = 0;

/** A browser with its own address, so that tests don't throttle each other. */
function newBrowser(): TestBrowser {
  visitors += 1;
  return new TestBrowser(service.url, { 'x-forwarded-for': `192.0.2.${visitors}` });
}

async function askForLink(email: string, browser = newBrowser()): Promise<VisitedPage> {
  return browser.submit(await browser.open('/forgot-password'), { email });
}

async function mailsTo(email: string, wait = 60): Promise<CapturedMail[]> {
  return readInbox(service.url, `?to=${encodeURIComponent(email)}&wait=${wait}`);
}

async function linkFor(email: string): Promise<string> {
  const page = await askForLink(email);
  assert.match(page.text, /a link to set a new password is on its way/);
  const [mail] = await mailsTo(email);
  const link = /href="(http[^"]+\/set-password\/spl_[A-Za-z0-9_-]{59})"/.exec(
    mail?.html ?? '',
  )?.[1];
  assert.ok(link, mail?.html ?? 'no mail');
  return link;
}

test('a mailed link sets a new password, once, and signs the person out everywhere', async () => {
  const { email } = await world.addPerson();
  const old = newBrowser();
  await old.submit(await old.open('/me'), { email, password });
  const link = await linkFor(email);
  const browser = newBrowser();
  const page = await browser.open(link);
  assert.equal(new URL(page.url).pathname, '/set-password', 'the token is removed from the URL');
  assert.match((await browser.submit(page, { new: 'short' })).text, /at least 12/);
  assert.match((await browser.submit(page, { new: next })).text, /Password set/);
  assert.match((await old.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.match((await browser.open(link)).text, /Link expired/);
  assert.match((await browser.submit(page, { new: next })).text, /Link expired/);
  const me = await browser.submit(await browser.open('/me'), { email, password: next });
  assert.match(me.text, /<h1>Sign-in and security/);
});

test('a person without a password gets the first one the same way', async () => {
  const { email } = await world.addPerson({ withoutPassword: true });
  const browser = newBrowser();
  const page = await browser.open(await linkFor(email));
  assert.match((await browser.submit(page, { new: next })).text, /Password set/);
});

test('an unknown address, a disabled person and a known one get the same response', async () => {
  const known = await world.addPerson();
  const disabled = await world.addPerson();
  await database.pool.query('update person set disabled_at = now() where id = $1', [disabled.id]);
  const responses = [];
  for (const email of [known.email, 'nobody@shop.test', disabled.email]) {
    const { status, text } = await askForLink(email);
    responses.push(`${status} ${text.replaceAll(email, 'ADDRESS')}`);
  }
  assert.equal(new Set(responses).size, 1);
  assert.equal((await mailsTo(known.email)).length, 1);
  assert.equal((await mailsTo(disabled.email, 0)).length, 0);
});

test('a person gets at most one email in two minutes, however often it is requested', async () => {
  const { email } = await world.addPerson();
  await Promise.all([askForLink(email), askForLink(email), askForLink(email)]);
  await mailsTo(email);
  await askForLink(email);
  assert.equal((await mailsTo(email, 0)).length, 1);
});

test('an address that asks repeatedly is throttled', async () => {
  const browser = newBrowser();
  for (let count = 0; count < 5; count += 1) await askForLink('nobody@shop.test', browser);
  const refused = await runEarlier(clock, () => askForLink('nobody@shop.test', browser));
  assert.equal(refused.status, 429);
});

test('a link works for thirty minutes, and forged ones never do', async () => {
  const { email } = await world.addPerson();
  const link = await linkFor(email);
  const forged = `${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}`;
  assert.match((await newBrowser().open(forged)).text, /Link expired/);
  await clock.advance(30 * 60_000);
  assert.match((await newBrowser().open(link)).text, /Link expired/);
});

test('the link is nowhere in the database except in the message itself', async () => {
  const { email } = await world.addPerson();
  const link = await linkFor(email);
  const token = link.slice(link.indexOf('spl_'));
  for (const table of ['password_reset', 'system_mail', 'audit_event', 'message_event']) {
    const { rows } = await database.pool.query(`select t::text as row from ${table} t`);
    assert.equal(
      rows.some((row) => String(row.row).includes(token)),
      false,
      table,
    );
  }
});

test('without a system mail sender, the page names the setting', async () => {
  const environment = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const plain = await startTestService({ databaseUrl: url, environment, worker: false });
  const page = await new TestBrowser(plain.url).open('/forgot-password');
  assert.match(page.text, /SYSTEM_MAIL_FROM/);
});
