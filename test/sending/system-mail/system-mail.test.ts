import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { enqueueNotices } from '../../../src/accounts/notices/system-mail-store.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { password, SessionWorld } from '../../support/session-world.ts';
import { saveShop } from '../../support/shop.ts';
import { signedInManager } from '../../support/signed-in-manager.ts';
import { systemMailTo } from '../../support/system-mail-reader.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const accountId = await saveShop(database);
const world = new SessionWorld(database, accountId);
const service = await startTestService({
  databaseUrl,
  environment: { SYSTEM_MAIL_FROM: 'Mail of Shop <no-reply@mail.shop.test>' },
});

function noticeTo(address: string) {
  return sql`
    select ${address}::text as to_address, null::uuid as person_id, null as account_id,
      '{"event": "password-changed"}'::jsonb as facts`;
}

async function signedIn(email: string, language: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url, { 'accept-language': language });
  await browser.submit(await browser.open('/me'), { email, password });
  return browser;
}

async function changePassword(browser: TestBrowser): Promise<void> {
  const values = { password, new: 'another long password' };
  await browser.submit(await browser.open('/me/password'), values);
}

test('an email is in the language of the first sign-in, and from the sender in the setting', async () => {
  const { email } = await world.addPerson();
  await changePassword(await signedIn(email, 'nl, de-AT;q=0.9, en;q=0.5'));
  await systemMailTo(service.url, email, /Ihr Passwort wurde geändert/);
  const [mail] = await readInbox(service.url, `?to=${email}`);
  assert.match(mail?.headers.from?.join() ?? '', /Mail of Shop.*<no-reply@mail\.shop\.test>/);
  assert.equal(mail?.headers['list-unsubscribe'], undefined);
});

test('a chosen language stays, whatever a browser asks for', async () => {
  const { email } = await world.addPerson();
  const browser = await signedIn(email, 'de');
  const page = await browser.open('/me');
  const saved = await browser.submit(page, { language: 'fr' }, '/me/language');
  assert.match(saved.text, /value="fr" lang="fr" selected/);
  assert.match(
    (await browser.submit(saved, { language: 'xx' }, '/me/language')).text,
    /"fr" selected/,
  );
  await changePassword(await signedIn(email, 'es'));
  await systemMailTo(service.url, email, /Votre mot de passe a été modifié/);
});

test('an unsupported language falls back to English', async () => {
  const { email } = await world.addPerson();
  await changePassword(await signedIn(email, 'nl;q=x, *'));
  await systemMailTo(service.url, email, /Your password was changed/);
});

test('a recipient whose mail bounced gets nothing, and nothing stays queued forever', async () => {
  await database.kysely
    .transaction()
    .execute((transaction) => enqueueNotices(transaction, noticeTo('suppressed@simulator.test')));
  await waitFor('the row to be gone', async () => {
    const { rows } = await database.pool.query('select from system_mail');
    return rows.length === 0;
  });
});

test('without a sender, no invitation is created, nothing is queued, and the setting is named', async () => {
  const owner = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId, personId: owner.id, role: 'owner' });
  await service.stop();
  const environment = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const silent = await startTestService({ databaseUrl, environment });
  const manager = await signedInManager(silent, owner.email);
  const response = await manager.put(`/accounts/${accountId}/users/x@shop.test`, {
    role: 'viewer',
  });
  assert.equal(response.status, 409);
  assert.match(response.text, /SYSTEM_MAIL_FROM/);
  await database.kysely
    .transaction()
    .execute((transaction) => enqueueNotices(transaction, noticeTo('ann@people.test')));
  await waitFor('the row to be dropped', async () => {
    const { rows } = await database.pool.query('select from system_mail');
    return rows.length === 0;
  });
});
