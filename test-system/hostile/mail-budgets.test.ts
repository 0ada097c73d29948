import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { locales } from '../../src/accounts/notices/system-mail.ts';
import {
  accountLinkBudgets,
  enqueueAccountLink,
  strangersLinkBudgets,
} from '../../src/accounts/notices/system-mail-store.ts';
import { recordUse } from '../../src/base/database/budget-store.ts';
import { networkOf } from '../../src/base/network/ip-address.ts';
import { type AccountId, newId } from '../../src/base/values/ids.ts';
import { mailValues, plainWords } from '../../src/sending/system-mail/mail-values.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { signedInManager } from '../../test/support/signed-in-manager.ts';
import { linkIn } from '../../test/support/system-mail-reader.ts';
import { TestBrowser } from '../../test/support/test-browser.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const world = new SessionWorld(database);
await world.addAccount();
const owner = await world.addPerson({ accounts: [] });
const { accountId } = world;
await saveMembership(database.kysely, { accountId, personId: owner.id, role: 'owner' });
const service = await startTestService({
  databaseUrl,
  environment: { TRUST_PROXY: '127.0.0.1', SYSTEM_MAIL_FROM: 'no-reply@mail.shop.test' },
});
const manager = await signedInManager(service, owner.email);
const senders = `/accounts/${accountId}/senders`;

/** As if the last link to an address was sent two minutes earlier. */
async function passTwoMinutes(address: string): Promise<void> {
  await database.pool.query(
    "update sender_proof set expires_at = expires_at - interval '2 minutes' where address = $1",
    [address],
  );
  await database.pool.query(
    "update password_reset set created_at = created_at - interval '2 minutes'",
  );
}

async function renewSender(address: string): Promise<void> {
  await manager.delete(`${senders}/${address}`);
  const put = await manager.put(`${senders}/${address}`, {});
  assert.equal(put.status, 201, put.text);
}

test('ASVS 11.1.4: removing and adding a sender allows no further mail, and its link stays valid', async () => {
  const address = 'victim@people.test';
  await renewSender(address);
  assert.equal((await manager.post(`${senders}/${address}/link`, {})).status, 200);
  await renewSender(address);
  const again = await manager.post(`${senders}/${address}/link`, {});
  assert.equal(again.status, 409, 'the minute isn’t over');
  for (let sent = 1; sent < 5; sent += 1) {
    await passTwoMinutes(address);
    await renewSender(address);
    const link = await manager.post(`${senders}/${address}/link`, {});
    assert.equal(link.status, 200, link.text);
  }
  await passTwoMinutes(address);
  await renewSender(address);
  const refused = await manager.post(`${senders}/${address}/link`, {});
  assert.equal(refused.status, 429, refused.text);
  assert.ok(Number(refused.headers.get('retry-after')) > 3_600);
  assert.match(refused.text, /Use the last link, or verify the address by setting up its domain/);
  const mails = await waitFor('the mails', async () => {
    const found = await readInbox(service.url, `?to=${address}`);
    return found.length === 5 && found;
  });
  const { rows } = await database.pool.query(
    'select count(*)::int as count from sender_proof where address = $1',
    [address],
  );
  assert.equal(rows[0].count, 1);
  const browser = new TestBrowser(service.url);
  const newest = mails.map(({ html }) => linkIn({ html: html ?? '' }, 'verify-sender'));
  const pages = await Promise.all(newest.map((link) => browser.open(link)));
  assert.equal(pages.filter(({ status }) => status === 200).length, 1);
});

test('ASVS 11.1.4: an account asks for a limited number of links a day, whomever they go to', async () => {
  const [, , account] = accountLinkBudgets('sender-confirmation', accountId, '');
  await recordUse(database.kysely, [account], account.max - 1 - 5);
  for (const [name, status] of [
    ['first', 200],
    ['second', 429],
  ] as const) {
    await renewSender(`${name}@elsewhere.test`);
    const sent = await manager.post(`${senders}/${name}@elsewhere.test/link`, {});
    assert.equal(sent.status, status, sent.text);
  }
  const invited = await manager.put(`/accounts/${accountId}/users/new@people.test`, {
    role: 'viewer',
  });
  assert.equal(invited.status, 429, invited.text);
  const other = await world.addAccount('2000');
  await saveMembership(database.kysely, {
    accountId: other,
    personId: owner.id,
    role: 'owner',
  });
  const allowed = await manager.put(`/accounts/${other}/users/new@people.test`, { role: 'viewer' });
  assert.equal(allowed.status, 201, 'another account has its own budget');
});

test('ASVS 11.1.4: many accounts can’t flood one mailbox together', async () => {
  const enqueue = (account: AccountId) =>
    database.kysely.transaction().execute((transaction) =>
      enqueueAccountLink(transaction, {
        id: newId(),
        kind: 'invitation',
        accountId: account,
        toAddress: 'Target@people.test',
        personId: undefined,
        facts: { role: 'viewer' },
      }),
    );
  const accounts = await Promise.all([1, 2, 3, 4].map((n) => world.addAccount(`300${n}`)));
  const results = await Promise.allSettled(
    accounts.flatMap((account) => [1, 2, 3, 4, 5].map(() => enqueue(account))),
  );
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 15);
  const suspended = await world.addAccount('3009', true);
  await assert.rejects(enqueue(suspended), /ACCOUNT_SUSPENDED/);
});

test('ASVS 2.2.3: a burst of changes is one notice that lists them, with nothing to click in its words', async () => {
  const securityAddress = 'security@people.test';
  await database.pool.query('update account set security_address = $1, created_at = $2', [
    securityAddress,
    new Date(0),
  ]);
  const created = await Promise.all(
    Array.from({ length: 25 }, (_, n) =>
      manager.post(`/accounts/${accountId}/keys`, {
        name: `Your parcel waits: http://evil.test/${n} or www.evil.test`,
        scopes: ['lists:read'],
      }),
    ),
  );
  assert.ok(created.every(({ status }) => status === 201));
  for (const email of [securityAddress, owner.email]) {
    const mails = await waitFor('all keys to be in mails', async () => {
      const found = await readInbox(service.url, `?to=${email}`);
      const keys = found.filter(({ subject }) => subject.startsWith('New API key'));
      const listed = keys.map(({ subject }) => Number(/\((\d+)\)$/.exec(subject)?.[1] ?? 1));
      return listed.reduce((sum, count) => sum + count, 0) === 25 && keys;
    });
    assert.ok(mails.length <= 2, `${mails.length} mails`);
    for (const { subject, text, html, source } of mails) {
      assert.doesNotMatch(subject, /parcel|evil/);
      assert.match(text ?? '', /parcel/);
      assert.doesNotMatch(`${text}${html}`, /evil\.test|https?:\/\/evil/);
      assert.doesNotMatch(source, /evil\.test/);
      assert.doesNotMatch((text ?? '').trimStart().split('\n')[0] ?? '', /parcel/);
    }
    assert.ok(mails.some(({ text }) => /• and \d+ more/.test(text ?? '')));
  }
});

test('ASVS 4.1.1: a suspended account causes no notices', async () => {
  const suspended = await world.addAccount('4000', true);
  const person = await world.addPerson({ accounts: [suspended] });
  await saveMembership(database.kysely, {
    accountId: suspended,
    personId: person.id,
    role: 'owner',
  });
  const { rows } = await database.pool.query('select from system_mail where account_id = $1', [
    suspended,
  ]);
  assert.deepEqual(rows, []);
});

test('ASVS 2.5.6: asking for password links again and again floods nobody and locks nobody out', async () => {
  const person = await world.addPerson();
  const ask = async (network: string) => {
    await passTwoMinutes('');
    const browser = new TestBrowser(service.url, { 'x-forwarded-for': network });
    const page = await browser.submit(await browser.open('/forgot-password'), {
      email: person.email,
    });
    return page.text.replaceAll(/value="[^"]*"/g, '');
  };
  const links = () =>
    database.pool.query<{ id: string; minutes: number }>(
      `select encode(hash, 'hex') as id, extract(epoch from expires_at - now()) / 60 as minutes
       from password_reset where person_id = $1 order by expires_at`,
      [person.id],
    );
  const answers: string[] = [];
  // The page is throttled by network too, but only for a minute.
  const [network] = strangersLinkBudgets(person.email, networkOf('2001:db8:1:1::1'));
  await recordUse(database.kysely, network === undefined ? [] : [network], 3);
  for (let asked = 1; asked <= 2; asked += 1) {
    answers.push(await ask(`2001:db8:1:1::${asked}`));
    await waitFor('the link', async () => (await links()).rows.length === asked);
  }
  const { rows } = await links();
  assert.ok((rows.at(-1)?.minutes ?? 0) > 23 * 60, 'the last one is valid for a day');
  const mail = await waitFor('the last mail', async () => {
    const found = await readInbox(service.url, `?to=${person.email}`);
    return found.length === 2 && found.find(({ text }) => /24 hours/.test(text ?? ''));
  });
  answers.push(await ask('2001:db8:1:1::99'));
  answers.push(await ask('2001:db8:2:2::1'));
  await waitFor('the link for another network', async () => (await links()).rows.length === 3);
  assert.equal(new Set(answers).size, 1, 'a refused request gets the same answer');
  const browser = new TestBrowser(service.url, { 'x-forwarded-for': '2001:db8:1:1::7' });
  const page = await browser.open(linkIn({ html: mail.html ?? '' }, 'set-password'));
  assert.match((await browser.submit(page, { new: 'a password of my own' })).text, /Password set/);
  await ask('2001:db8:1:1::8');
  await waitFor('a link after one was used', async () => (await links()).rows.length === 1);
});

test('words that people write make no link in any mail program', () => {
  for (const [words, plain] of [
    ['St. Mary & Sons Inc.', 'St. Mary & Sons Inc.'],
    ['evil.test', 'evil[.]test'],
    ['https://evil.test/a?b', 'https[:]//evil[.]test/a?b'],
    ['mailto:a@evil.test', 'mailto[:]a@evil[.]test'],
    ['evil。test', 'evil[。]test'],
    ['evil\u200b.\u2060test', 'evil . test'],
    ['two\r\nlines\ttext', 'two lines text'],
    ['\u202egnp.exe', 'gnp[.]exe'],
    ['ann@shop.test', 'ann@shop.test'],
    ['evil.test/pay@shop.test', 'evil[.]test/pay@shop[.]test'],
    ['192.0.2.7', '192.0.2.7'],
    ['x'.repeat(500), `${'x'.repeat(80)}…`],
  ] as const)
    assert.equal(plainWords(words), plain, words);
});

test('every fact of every mail is plain, and none is in a subject', () => {
  const evil = 'Win at https://evil.test now';
  const names = [
    'account',
    'accountId',
    'inviter',
    'inviterEmail',
    'askedBy',
    'keyName',
    'who',
    'about',
    'browser',
    'address',
  ];
  const facts = {
    ...Object.fromEntries(names.map((name) => [name, evil])),
    event: 'api-key-created',
    role: evil,
  };
  for (const locale of locales)
    for (const kind of [
      'invitation',
      'sender-confirmation',
      'password-link',
      'security-notice',
    ] as const) {
      const mail = {
        kind,
        facts,
        toAddress: 'ann@shop.test',
        createdAt: new Date(0),
        name: evil,
        collected: [],
      };
      const values = mailValues(mail, locale, 'https://mail.test');
      assert.doesNotMatch(JSON.stringify(values), /evil\.test|https:\/\/evil/, `${kind} ${locale}`);
      assert.doesNotMatch(values.Subject ?? '', /evil/);
    }
});

test('ASVS 5.3.1: a replaced text can’t say in its subject what people of an account wrote', async () => {
  await database.pool.query('update person set operator = true where id = $1', [owner.id]);
  const at = '/installation/mail-templates/invitation';
  const html = '<a href="{{Link}}">go</a>';
  for (const text of [
    { subject: '{{Account Name}} invites you', html },
    { subject: 'S', previewText: 'from {{Inviter}}', html },
  ]) {
    const refused = await manager.put(at, text);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.text, /use it in the body/);
  }
});

test('only one file writes system mail, so all of it has a budget', async () => {
  const root = join(import.meta.dirname, '../../src');
  const writers: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root })) {
    const text = await readFile(join(root, file), 'utf8');
    if (/insert\s+into\s+system_mail\b|insertInto\('system_mail'\)/i.test(text)) writers.push(file);
  }
  assert.deepEqual(writers, ['accounts/notices/system-mail-store.ts']);
});
