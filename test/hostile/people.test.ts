import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash } from '@node-rs/argon2';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { createPerson, markEmailVerified } from '../../src/accounts/account/person-store.ts';
import { accountLinkBudgets } from '../../src/accounts/notices/system-mail-store.ts';
import { recordUse } from '../../src/base/database/budget-store.ts';
import type { PersonId } from '../../src/base/values/ids.ts';
import { password, SessionWorld } from '../support/session-world.ts';
import { saveShop } from '../support/shop.ts';
import { signedInManager } from '../support/signed-in-manager.ts';
import { linkIn, systemMailTo } from '../support/system-mail-reader.ts';
import { TestBrowser, type VisitedPage } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url: databaseUrl, database, clock } = await createTestDatabase();
const service = await startTestService({ databaseUrl, clock });
const [a, b] = [
  await saveShop(database, { id: '46100' }),
  await saveShop(database, { id: '46200' }),
];
const world = new SessionWorld(database, a);
const [ownerOfA, ownerOfB] = [await addOwner(a), await addOwner(b)];
const managerOfA = await signedInManager(service, ownerOfA.email);
const managerOfB = await signedInManager(service, ownerOfB.email);
const usersOfA = `/accounts/${a}/users`;
const usersOfB = `/accounts/${b}/users`;
const own = 'a password of my own';
const known = 'a password he knows';

async function addOwner(accountId: typeof a): Promise<{ id: PersonId; email: string }> {
  const person = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId, personId: person.id, role: 'owner' });
  return person;
}

async function invitationOf(email: string): Promise<string> {
  return linkIn(await systemMailTo(service.url, email, /invited/), 'invitation');
}

async function accept(
  link: string,
  values: Record<string, string> = { name: 'C', new: own },
  browser = new TestBrowser(service.url),
): Promise<VisitedPage> {
  const page = await browser.open(link);
  return page.forms.length === 0 ? page : browser.submit(page, values);
}

async function canSignIn(email: string, typed: string): Promise<boolean> {
  const browser = new TestBrowser(service.url);
  const page = await browser.submit(await browser.open('/me'), { email, password: typed });
  return page.text.includes('Sign-in and security');
}

/** A person whose password was chosen by an owner, as version 0.1 allowed. */
async function addPersonWithOwnersPassword(email: string): Promise<PersonId> {
  const passwordHash = await hash(known);
  return (await createPerson(database.kysely, { email, name: 'C', passwordHash })).id;
}

test('ASVS 2.3.1: an owner can’t choose a password for another person, and the error names the field', async () => {
  const body = { name: 'CFO', role: 'viewer', password: known };
  const response = await managerOfB.put(`${usersOfB}/chosen@shop.test`, body);
  assert.equal(response.status, 422);
  assert.match(response.text, /"field":"password"/);
  const { rows } = await database.pool.query("select from person where email = 'chosen@shop.test'");
  assert.equal(rows.length, 0);
});

test('ASVS 2.5.1: a withdrawn invitation to one account can’t be used to accept another account’s invitation', async () => {
  const email = 'cfo@shop.test';
  assert.equal((await managerOfB.put(`${usersOfB}/${email}`, { role: 'viewer' })).status, 201);
  const stale = await invitationOf(email);
  assert.equal((await managerOfB.delete(`${usersOfB}/${email}`)).status, 204);
  const invited = await managerOfA.put(`${usersOfA}/${email}`, { role: 'owner' });
  assert.equal(invited.status, 201);
  const pending = invited.body.invitation as { invitedBy: string };
  assert.equal(pending.invitedBy, ownerOfA.email);
  assert.match((await accept(stale)).text, /Invitation no longer valid/);
  const link = await waitForNewLink(email, stale);
  const page = await new TestBrowser(service.url).open(link);
  for (const named of ['Shop 46100', 'ID 46100', ownerOfA.email, email, 'owner'])
    assert.ok(page.text.includes(named), `the page names ${named}`);
  assert.match((await accept(link, { name: 'C', new: 'short' })).text, /at least 12/);
  assert.match((await accept(link)).text, /You’ve joined/);
  assert.ok(await canSignIn(email, own));
  assert.match((await accept(link)).text, /Invitation no longer valid/);
  const [user] = (
    (await managerOfA.get(`${usersOfA}?limit=50`)).body.items as {
      email: string;
      invitation: unknown;
    }[]
  ).filter((one) => one.email === email);
  assert.equal(user?.invitation, null);
});

async function waitForNewLink(email: string, old: string): Promise<string> {
  return waitFor('the second invitation', async () => {
    const link = await invitationOf(email);
    return link !== old && link;
  });
}

test('ASVS 2.5.1: a password chosen by another person, and its sessions, end with the invitation', async () => {
  const email = 'inherited@shop.test';
  await addPersonWithOwnersPassword(email);
  const thief = new TestBrowser(service.url);
  await thief.submit(await thief.open('/me'), { email, password: known });
  assert.match((await thief.open('/me')).text, /Sign-in and security/);
  await managerOfA.put(`${usersOfA}/${email}`, { role: 'owner' });
  const link = await invitationOf(email);
  assert.match(
    (await thief.open('/invitation')).text,
    /Invitation no longer valid/,
    'no link, no way in',
  );
  const me = await signedInManagerOf(thief);
  assert.deepEqual(me.accounts, []);
  const page = await new TestBrowser(service.url).open(link);
  assert.match(page.text, /Any earlier password for this address stops working/);
  assert.match((await accept(link, { new: own })).text, /You’ve joined/);
  assert.equal(await canSignIn(email, known), false);
  assert.ok(await canSignIn(email, own));
  assert.match((await thief.open('/me')).text, /<h1>Sign in<\/h1>/);
});

async function signedInManagerOf(browser: TestBrowser): Promise<{ accounts: unknown }> {
  const { text } = await browser.request('/manage/v1/me');
  return JSON.parse(text) as { accounts: unknown };
}

test('ASVS 2.7.1: an emailed link can’t bypass a second factor', async () => {
  const email = 'guarded@shop.test';
  const id = await addPersonWithOwnersPassword(email);
  await database.pool.query(
    "insert into second_factor (person_id, secret, confirmed_at) values ($1, 'x', now())",
    [id],
  );
  await managerOfA.put(`${usersOfA}/${email}`, { role: 'viewer' });
  const page = await accept(await invitationOf(email));
  assert.match(page.text, /Sign in first/);
  assert.ok(!(await canSignIn(email, own)));
});

test('ASVS 2.5.4: a person with their own password keeps it and is not a member before accepting', async () => {
  const person = await world.addPerson({ accounts: [] });
  await markEmailVerified(database.kysely, person.id);
  const response = await managerOfA.put(`${usersOfA}/${person.email}`, { role: 'viewer' });
  const unknown = await managerOfA.put(`${usersOfA}/unknown@shop.test`, { role: 'viewer' });
  const shown = (body: Record<string, unknown>) => ({
    ...body,
    email: '',
    since: '',
    invitation: '',
  });
  assert.deepEqual(
    shown(response.body),
    shown(unknown.body),
    'the answer does not reveal who has a sign-in',
  );
  const manager = await signedInManager(service, person.email);
  assert.deepEqual((await manager.get('/me')).body.accounts, []);
  const link = await invitationOf(person.email);
  const page = await new TestBrowser(service.url).open(link);
  assert.match(page.text, /You keep your password/);
  assert.match((await accept(link, {})).text, /You’ve joined/);
  assert.equal(((await manager.get('/me')).body.accounts as unknown[]).length, 1);
  assert.ok(await canSignIn(person.email, password));
});

test('ASVS 2.5.6: an invitation is invalid after seven days, without its inviter, when withdrawn and when forged', async () => {
  await managerOfA.put(`${usersOfA}/late@shop.test`, { role: 'viewer' });
  const late = await invitationOf('late@shop.test');
  await clock.advance(7 * 86_400_000);
  assert.match((await accept(late)).text, /Invitation no longer valid/);
  await clock.reset();
  const forged = `${late.slice(0, -1)}${late.endsWith('A') ? 'B' : 'A'}`;
  assert.match((await accept(forged)).text, /Invitation no longer valid/);

  const second = await addOwner(a);
  const manager = await signedInManager(service, second.email);
  await manager.put(`${usersOfA}/orphan@shop.test`, { role: 'owner' });
  const orphan = await invitationOf('orphan@shop.test');
  assert.equal((await managerOfA.delete(`${usersOfA}/${second.email}`)).status, 204);
  assert.match((await accept(orphan)).text, /Invitation no longer valid/);

  await managerOfA.put(`${usersOfA}/gone@shop.test`, { role: 'viewer' });
  const gone = await invitationOf('gone@shop.test');
  assert.equal((await managerOfA.delete(`${usersOfA}/gone@shop.test`)).status, 204);
  assert.match((await accept(gone)).text, /Invitation no longer valid/);
});

test('ASVS 11.1.4: repeatedly inviting and withdrawing can’t flood a mailbox', async () => {
  const at = `${usersOfA}/flooded@shop.test`;
  assert.equal((await managerOfA.put(at, { role: 'viewer' })).status, 201);
  assert.equal((await managerOfA.post(`${at}/invitation`)).status, 409);
  assert.equal((await managerOfA.delete(at)).status, 204);
  assert.equal((await managerOfA.put(at, { role: 'viewer' })).status, 409);
  await clock.advance(120_000);
  assert.equal((await managerOfA.put(at, { role: 'viewer' })).status, 201);
  await clock.reset();
});

test('ASVS 11.1.4: an account can mail 100 invitations a day, and five to one address, even with withdrawals', async () => {
  const at = `${usersOfB}/bombed@shop.test`;
  for (let mailed = 0; mailed < 5; mailed += 1) {
    assert.equal((await managerOfB.put(at, { role: 'viewer' })).status, 201);
    assert.equal((await managerOfB.delete(at)).status, 204);
    await clock.advance(120_000);
    // As if the manager had just confirmed who they are.
    await database.pool.query(
      `update browser_session set authenticated_at = authenticated_at + interval '120 seconds'`,
    );
  }
  const bomb = await managerOfB.put(at, { role: 'viewer' });
  assert.equal(bomb.status, 429, bomb.text);
  assert.match(String(bomb.body.detail), /The account sent bombed@shop\.test 5 links within a day/);
  await clock.reset();
  const [, , account] = accountLinkBudgets('invitation', b, '');
  await recordUse(database.kysely, [account], account.max - 5);
  const response = await managerOfB.put(`${usersOfB}/one-more@shop.test`, { role: 'viewer' });
  assert.equal(response.status, 429, response.text);
});

test('ASVS 2.5.2: of concurrent uses of an invitation, one succeeds', async () => {
  await managerOfA.put(`${usersOfA}/raced@shop.test`, { role: 'viewer' });
  const link = await invitationOf('raced@shop.test');
  const pages = await Promise.all(
    Array.from({ length: 6 }, (_, n) => accept(link, { name: 'R', new: `${own} ${n}` })),
  );
  assert.equal(pages.filter(({ text }) => text.includes('You’ve joined')).length, 1);
  const { rows } = await database.pool.query("select from person where email = 'raced@shop.test'");
  assert.equal(rows.length, 1);
});

test('ASVS 4.1.1: only owners can invite', async () => {
  for (const role of ['developer', 'marketer', 'viewer'] as const) {
    const person = await world.addPerson({ accounts: [] });
    await saveMembership(database.kysely, { accountId: a, personId: person.id, role });
    const manager = await signedInManager(service, person.email);
    const at = `${usersOfA}/friend@shop.test`;
    assert.equal((await manager.put(at, { role: 'viewer' })).status, 403);
    assert.equal((await manager.post(`${at}/invitation`)).status, 403);
  }
});

test('ASVS 4.1.1: nobody joins a suspended account by an invitation', async () => {
  const email = 'joiner@shop.test';
  assert.equal((await managerOfA.put(`${usersOfA}/${email}`, { role: 'viewer' })).status, 201);
  const link = await invitationOf(email);
  await database.pool.query('update account set suspended_at = now() where id = $1', [a]);
  assert.match((await accept(link)).text, /Invitation no longer valid/);
  await database.pool.query('update account set suspended_at = null where id = $1', [a]);
  assert.match((await accept(link)).text, /You’ve joined/);
});
