import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import { ApiKeyParser } from '../../src/accounts/access/api-key.ts';
import { SigningSecrets } from '../../src/accounts/access/signing-secrets.ts';
import { TokenMint } from '../../src/accounts/access/token-mint.ts';
import { createPerson } from '../../src/accounts/account/person-store.ts';
import { EndSessionsLinks } from '../../src/accounts/notices/mailed-links.ts';
import { ClientSecretHasher } from '../../src/accounts/oauth/authenticate-client.ts';
import { BrowserSessions } from '../../src/accounts/sign-in/browser/browser-sessions.ts';
import { parseForm } from '../../src/accounts/sign-in/form.ts';
import { LoginThrottle } from '../../src/accounts/sign-in/login-throttle.ts';
import { createOneTimeLink } from '../../src/accounts/sign-in/one-time-link.ts';
import { PasskeyChallenges } from '../../src/accounts/sign-in/passkey/passkey-challenges.ts';
import { RecoveryCodes } from '../../src/accounts/sign-in/recovery-codes.ts';
import type { SessionModuleDependencies } from '../../src/accounts/sign-in/session-dependencies.ts';
import { WrongGuessStore } from '../../src/accounts/sign-in/wrong-guess-store.ts';
import { serviceSchema } from '../../src/base/database/service-schema.ts';
import { requireMatchingKey } from '../../src/base/secrets/installation-store.ts';
import { MasterKey } from '../../src/base/secrets/master-key.ts';
import { resealColumn, seal, unsealAny } from '../../src/base/secrets/seal.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import type { EmailAddress } from '../../src/base/values/email-address.ts';
import { type AccountId, type MessageId, newId, type PersonId } from '../../src/base/values/ids.ts';
import { GuardedLinks } from '../../src/content/message/guarded-link.ts';
import { ReplyAddresses } from '../../src/content/message/reply-address.ts';
import { sealedColumns } from '../../src/operating/command/rotate-master.ts';
import { DeliveryTokens } from '../../src/outcomes/relay/delivery-tokens.ts';
import { TrackingTokens } from '../../src/outcomes/tracking/tracking-tokens.ts';
import { UnsubscribeTokens } from '../../src/outcomes/unsubscribe/unsubscribe-token.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { InboxReaders } from '../../src/sending/inbox/inbox-access.ts';
import { StatusLinks } from '../../src/sending/submission/status-link.ts';
import { createTestDatabase } from '../support/test-database.ts';

const secrets = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const [oldSecret, newSecret] = secrets;
const [oldName, newName] = secrets.map((secret) => new MasterKey(secret).fingerprint) as [
  string,
  string,
];
const { database: codesDatabase } = await createTestDatabase();
const { id: codesOwner } = await createPerson(codesDatabase.kysely, {
  email: 'ann@shop.test',
  name: 'Ann',
  passwordHash: undefined,
});
await codesDatabase.pool.query(
  `insert into second_factor (person_id, secret, confirmed_at) values ($1, '', now())`,
  [codesOwner],
);
const message = {
  accountId: '1' as AccountId,
  messageId: newId() as MessageId,
  retentionDays: 90,
};

/** A secret that depends on a master key. `make` and `accepts` get the same object as long as a process runs. */
interface Use<Holder, Thing> {
  readonly open: (key: MasterKey) => Holder;
  readonly make: (holder: Holder) => Thing | Promise<Thing>;
  readonly accepts: (holder: Holder, secret: Thing) => boolean | Promise<boolean>;
}

function use<Holder, Thing>(one: Use<Holder, Thing>): Use<unknown, unknown> {
  return one as Use<unknown, unknown>;
}

const opens = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};

const sealed = (purpose: string) =>
  use({
    open: (key) => key.keysFor(purpose),
    make: (keys) => seal(keys.current, 'row', Buffer.from('secret')),
    accepts: (keys, secret) => opens(() => unsealAny(keys, 'row', secret)),
  });

/** Every purpose of the master key, with what must keep working during a rotation. */
const uses: Record<string, Use<unknown, unknown> | 'begins anew'> = {
  'token checksum': use({
    open: (key) => new TokenMint(key),
    make: (mint) => mint.mint('refresh').text,
    accepts: (mint, text) => mint.recognizes('refresh', text),
  }),
  'client secret': use({
    open: (key) => new ClientSecretHasher(key),
    make: (clients) => clients.hash('secret'),
    accepts: (clients, hash) => clients.matches('secret', hash),
  }),
  'api key': use({
    open: (key) => new ApiKeyParser(key),
    // Keys in the current format need no master key.
    make: (keys) => {
      const text = `spk.1.${randomBytes(32).toString('base64url')}`;
      const hash = keys.parse(text)?.hash ?? Buffer.alloc(0);
      return { text, hash };
    },
    accepts: (keys, { text, hash }) => {
      const read = keys.parse(text);
      return read !== undefined && [read.hash, ...read.olderHashes].some((one) => one.equals(hash));
    },
  }),
  'recovery codes': use({
    open: (key) => new StoredCodes(key),
    make: async (codes) => [...(await codes.renew())],
    // Each works once.
    accepts: (codes, given) => codes.accepts(given.shift() ?? ''),
  }),
  'second factor': sealed('second factor'),
  'dkim keys': sealed('dkim keys'),
  'sign-in provider secret': sealed('sign-in provider secret'),
  'signing secrets': sealed('signing secrets'),
  'outbox source URLs': sealed('outbox source URLs'),
  'webhook secrets': use({
    open: (key) => new SecretBox(key),
    make: (box) => box.seal('secret'),
    accepts: (box, bytes) => opens(() => box.open(bytes)),
  }),
  'return path': use({
    open: (key) => new ReturnPaths(key),
    make: (paths) => paths.make({ ...message, recipient: 0 }, 'shop.test'),
    accepts: (paths, address) => paths.read(address) !== undefined,
  }),
  'relay report': use({
    open: (key) => new DeliveryTokens(key),
    make: (tokens) => tokens.make(message.accountId, message.messageId),
    accepts: (tokens, text) => tokens.read(text) !== undefined,
  }),
  'reply address': use({
    open: (key) => new ReplyAddresses(key),
    make: (addresses) => addresses.make(message.accountId, message.messageId, 'shop.test'),
    accepts: (addresses, address) => addresses.read(address) !== undefined,
  }),
  'tracked link': use({
    open: (key) => new TrackingTokens(key),
    make: (tokens) =>
      tokens.makeLink({
        ...message,
        templateId: 't-0001' as never,
        templateVersion: 1,
        index: 0,
        values: [],
      }),
    accepts: (tokens, text) => tokens.readLink(text) !== undefined,
  }),
  'status link': use({
    open: (key) => new StatusLinks(key, () => 'http://127.0.0.1'),
    make: (links) =>
      links
        .for(message.accountId, { isPrivate: false, resendAfterSeconds: 0 })
        ?.urlOf(message.messageId) ?? '',
    accepts: (links, url) => links.read(url.slice(url.lastIndexOf('/') + 1)) !== undefined,
  }),
  'open image': use({
    open: (key) => new TrackingTokens(key),
    make: (tokens) => tokens.makeOpen(message),
    accepts: (tokens, text) => tokens.readOpen(text) !== undefined,
  }),
  'unsubscribe cipher': unsubscribing(),
  'unsubscribe hash': unsubscribing(),
  'guarded link cipher': guarding(),
  'guarded link hash': guarding(),
  csrf: use({
    open: (key) =>
      new BrowserSessions({
        key,
        publicUrl: () => 'http://127.0.0.1',
      } as SessionModuleDependencies),
    make: async (browser) =>
      (await browser.visit({ headers: {}, ip: '192.0.2.1' } as never, fakeReply as never)).csrf,
    accepts: (browser, csrf) =>
      browser.hasValidCsrfToken(
        {
          headers: { cookie: fakeReply.cookie, 'sec-fetch-site': 'same-origin' },
          protocol: 'http',
          ip: '192.0.2.1',
        } as never,
        parseForm(`csrf=${csrf}`),
      ),
  }),
  'passkey challenge': use({
    open: (key) => new PasskeyChallenges(key, systemClock),
    make: (challenges) => challenges.create(challengeScope),
    accepts: (challenges, text) => challenges.read(text, challengeScope) !== undefined,
  }),
  'end sessions': use({
    open: (key) => new EndSessionsLinks(key, systemClock),
    make: (links) => links.token('01a20a6f-2c7b-7562-9b87-690be7af4e61' as PersonId),
    accepts: (links, token) => links.read(token) !== undefined,
  }),
  'inbox reader': use({
    open: (key) =>
      new InboxReaders({
        key,
        clock: systemClock,
        database: codesDatabase,
        token: undefined,
        browser: { isSecure: () => false },
      }),
    async make(readers) {
      const link = await createOneTimeLink(codesDatabase, 'inbox', '');
      const code = link.split('=').at(-1) ?? '';
      assert.ok(await readers.admit(code, { headers: {} } as never, fakeReply as never));
      return fakeReply.cookie;
    },
    accepts: (readers, cookie) => readers.find({ headers: { cookie } } as never) !== undefined,
  }),
  // Whoever is at a provider during the switch begins the sign-in again.
  'sign-in flow': 'begins anew',
  // The link in a mail written before the switch and sent after it doesn't work and is requested again.
  'mailed link': 'begins anew',
  'wrong guesses': 'begins anew',
  'privacy record': 'begins anew',
};

const challengeScope = { purpose: 'sign-in', csrf: 'token' } as const;

const fakeReply = {
  cookie: '',
  getHeader: () => undefined,
  removeHeader: () => fakeReply,
  header(name: string, value: string[]) {
    if (name === 'set-cookie') this.cookie = (value.at(-1) ?? '').split(';')[0] ?? '';
    return this;
  },
};

function unsubscribing() {
  return use({
    open: (key) => new UnsubscribeTokens(key),
    make: (tokens) => tokens.make({ ...message, address: 'ann@shop.test' as EmailAddress }),
    accepts: (tokens, text) => tokens.read(text)?.address === 'ann@shop.test',
  });
}

function guarding() {
  const target = 'https://shop.test/reset';
  return use({
    open: (key) => new GuardedLinks(key),
    make: (links) =>
      links.seal(message, { Link: 7 }, ['de'], { Link: target }).values.Link as string,
    accepts: (links, token) => links.read(token)?.target === target,
  });
}

/** Recovery codes of one person with a second factor. */
class StoredCodes {
  readonly #codes: RecoveryCodes;
  constructor(key: MasterKey) {
    const throttle = new LoginThrottle(new WrongGuessStore(codesDatabase), key, systemClock);
    this.#codes = new RecoveryCodes({ database: codesDatabase, key }, throttle);
  }
  renew(): Promise<readonly string[]> {
    return this.#codes.renew(codesOwner);
  }
  accepts(code: string): Promise<boolean> {
    const origin = { kind: 'session', remoteAddress: '192.0.2.1' } as const;
    return this.#codes.consume(codesOwner, code, origin);
  }
}

test('every purpose of the master key is in the table of this file', async () => {
  const found = new Set<string>();
  for await (const file of glob('src/**/*.ts')) {
    const text = await readFile(file, 'utf8');
    for (const [, purpose = ''] of text.matchAll(
      /(?:keysFor\(|derive\(|SignedMessageNames\(key, |super\(key, )\s*'([^']+)'/g,
    ))
      found.add(purpose);
    for (const [, purpose = ''] of text.matchAll(/const \w*[Pp]urpose = '([^']+)'/g))
      found.add(purpose);
  }
  found.delete('');
  assert.deepEqual([...found].toSorted(), Object.keys(uses).toSorted());
});

for (const [purpose, one] of Object.entries(uses)) {
  if (one === 'begins anew') continue;
  test(`ASVS 4.0.3 6.4.1: a rotation of the master key never stops "${purpose}", but finishing it does`, async () => {
    const both = () => new MasterKey(...secrets);
    // One process runs during the whole rotation; another one lags behind.
    const [running, late] = [both(), both()];
    for (const key of [running, late]) assert.equal(key.select(oldName, null), undefined);
    const [holder, behind] = [one.open(running), one.open(late)];
    const before = await one.make(holder);
    assert.equal(await one.accepts(one.open(new MasterKey(oldSecret)), before), true);
    running.select(newName, oldName);
    assert.equal(await one.accepts(holder, before), true, 'of the key before');
    const after = await one.make(holder);
    assert.equal(await one.accepts(holder, after), true, 'of the new key');
    assert.equal(await one.accepts(behind, after), true, 'by a process that lags behind');
    assert.equal(await one.accepts(one.open(new MasterKey(newSecret)), after), true);
    const again = await one.make(behind);
    assert.equal(await one.accepts(holder, again), true, 'of a process that lags behind');
    running.select(newName, null);
    assert.equal(await one.accepts(holder, again), false, 'after the end');
    const last = await one.make(holder);
    assert.equal(await one.accepts(holder, last), true);
    const ended = both();
    ended.select(newName, null);
    assert.equal(await one.accepts(one.open(ended), again), false, 'after a restart');
  });
}

test('a secret of a webhook is bound to its format, so a release without formats can’t open it', () => {
  const box = new SecretBox(new MasterKey(oldSecret));
  assert.equal(box.open(box.seal('secret', 'resend'), 'resend'), 'secret');
  // How such a release opens secrets.
  assert.throws(() => box.open(box.seal('secret', 'resend')));
  assert.throws(() => box.open(box.seal('secret', 'resend'), 'ses'));
  assert.throws(() => box.open(box.seal('secret'), 'resend'));
});

test('a process needs both keys until the rotation is finished', async () => {
  const { database } = await createTestDatabase();
  await requireMatchingKey(database, new MasterKey(oldSecret));
  const both = new MasterKey(...secrets);
  await requireMatchingKey(database, both);
  assert.equal(both.fingerprint, oldName);
  await assert.rejects(requireMatchingKey(database, new MasterKey(newSecret)), /another key/);
  await sql`update installation set key_fingerprint = ${newName}, key_previous_fingerprint = ${oldName}`.execute(
    database.kysely,
  );
  await requireMatchingKey(database, both);
  assert.equal(both.fingerprint, newName);
  await assert.rejects(requireMatchingKey(database, new MasterKey(newSecret)), /PREVIOUS/);
  await assert.rejects(requireMatchingKey(database, new MasterKey(oldSecret)), /another key/);
});

/** The content of each column of bytes. A new column needs an entry that says what a rotation does to it. */
const kinds: Record<string, 'sealed' | 'keyed hash' | 'plain'> = {
  'access_token.hash': 'plain',
  'access_token.code_hash': 'plain',
  'account_sign_in_provider.client_secret': 'sealed',
  'api_key.hash': 'keyed hash',
  'api_key.signing_secret': 'sealed',
  'browser_session.hash': 'plain',
  'budget_use.key': 'plain',
  'dkim_key.private_key': 'sealed',
  'grant_code.hash': 'plain',
  'integration.secret_hash': 'keyed hash',
  'integration.previous_secret_hash': 'keyed hash',
  'invitation.hash': 'plain',
  'key_leftover.hash': 'plain',
  'known_browser.hash': 'plain',
  'one_time_link.code_hash': 'plain',
  'outbox_source.sealed_url': 'sealed',
  'password_reset.hash': 'plain',
  'privacy_record.address_hash': 'plain',
  'recovery_code.hash': 'keyed hash',
  'second_factor.secret': 'sealed',
  'sender_proof.hash': 'plain',
  'session_pair.refresh_hash': 'plain',
  'session_pair.spent_refresh_hash': 'plain',
  'session_pair.code_hash': 'plain',
  'webhook_endpoint.secret': 'sealed',
  'webhook_endpoint.previous_secret': 'sealed',
  'wrong_guess.key': 'keyed hash',
};

test('the rotation knows every column that depends on the master key', async () => {
  const { database } = await createTestDatabase();
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = ${serviceSchema} and data_type = 'bytea'
      and column_name ~ '(hash|secret|key|sealed)' and column_name !~ '^(content|request|public)_'
      and table_name !~ '^(idempotency|spent_intake|message_attribute)'`.execute(database.kysely);
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(kinds).toSorted());
  const sealedNames = Object.keys(kinds).filter((name) => kinds[name] === 'sealed');
  assert.deepEqual(
    sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
    sealedNames.toSorted(),
  );
});

test('ASVS 4.0.3 6.4.1: sealed secrets are re-encrypted row by row, repeatably', async () => {
  const { database } = await createTestDatabase();
  const { kysely } = database;
  const old = new MasterKey(oldSecret);
  await sql`insert into account (id, name) values ('1', 'Shop')`.execute(kysely);
  const box = new SecretBox(old);
  for (let count = 0; count < 1_100; count += 1)
    await sql`insert into webhook_endpoint (account_id, id, url, kinds, secret, previous_secret)
      values ('1', ${newId()}, 'https://a.test', '{}', ${box.seal(`s${count}`)}, ${count % 2 === 0 ? box.seal('p') : null})`.execute(
      kysely,
    );
  for (const format of ['resend', 'sendgrid'])
    await sql`insert into webhook_endpoint (account_id, id, url, kinds, format, secret)
      values ('1', ${newId()}, 'https://a.test', '{}', ${format}, ${box.seal(format, format)})`.execute(
      kysely,
    );
  await sql`insert into webhook_endpoint (account_id, id, url, kinds, secret) values ('1', ${newId()}, 'https://lost.test', '{}', '\\x00')`.execute(
    kysely,
  );
  await sql`insert into account_sign_in_provider (account_id, name, issuer, client_id, client_secret, trust_email, members)
    values ('1', 'ID', 'https://id.test', 'c', ${seal(old.derive('sign-in provider secret'), '1', Buffer.from('s'))}, false, '[]')`.execute(
    kysely,
  );
  await sql`insert into person (id, email, name) values (${newId()}, 'ann@shop.test', 'Ann')`.execute(
    kysely,
  );
  const person = (await sql<{ id: string }>`select id from person`.execute(kysely)).rows[0]?.id;
  await sql`insert into second_factor (person_id, secret) values (${person}, ${seal(old.derive('second factor'), person ?? '', Buffer.from('totp'))})`.execute(
    kysely,
  );
  await sql`insert into sending_domain (account_id, domain, return_path) values ('1', 'a.test', 'b.a.test')`.execute(
    kysely,
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  await sql`insert into dkim_key (account_id, domain, selector, algorithm, private_key, record)
    values ('1', 'a.test', 's1', 'ed25519-sha256', ${seal(old.derive('dkim keys'), '1/a.test/s1', der)}, '')`.execute(
    kysely,
  );
  const signingKey = { accountId: '1' as AccountId, id: newId() };
  await sql`insert into api_key (account_id, id, hash, name, scopes, signing_secret)
    values ('1', ${signingKey.id}, 'h', 'SES', '{}', ${new SigningSecrets(old).seal(signingKey, 'signing')})`.execute(
    kysely,
  );
  await sql`insert into outbox_source (account_id, id, table_name, sealed_url, server, rows_per_second)
    values ('1', 'orders', 'email_outbox', ${seal(old.derive('outbox source URLs'), '1/orders', Buffer.from('postgres://'))}, '', 1)`.execute(
    kysely,
  );
  const both = new MasterKey(...secrets);
  both.select(newName, oldName);
  const all = async () => {
    const results = [];
    for (const column of sealedColumns) results.push(await resealColumn(database, both, column));
    return results.map(({ renewed, unreadable }) => [renewed, unreadable]);
  };
  assert.deepEqual(await all(), [
    [1, 0],
    [1, 0],
    [1_102, 1],
    [550, 0],
    [1, 0],
    [1, 0],
    [1, 0],
  ]);
  assert.deepEqual(await all(), [
    [0, 0],
    [0, 0],
    [0, 1],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
  const fresh = new MasterKey(newSecret);
  for (const column of sealedColumns) {
    const { rows } = await sql<{ row: string[]; sealed: Buffer }>`
      select array[${sql.join(column.rowKey.map((one) => sql`${sql.ref(one)}::text`))}] as row,
        ${sql.ref(column.column)} as sealed from ${sql.table(column.table)}
      where ${sql.ref(column.column)} is not null and ${sql.ref(column.column)} <> '\\x00'`.execute(
      kysely,
    );
    const key: KeyObject = fresh.derive(column.purpose);
    for (const { row, sealed: bytes } of rows) column.unseal(key, row, bytes);
  }
  const { rows } = await sql<{
    sealed: Buffer;
  }>`select signing_secret as sealed from api_key`.execute(kysely);
  const opened = new SigningSecrets(fresh).open(signingKey, rows[0]?.sealed ?? Buffer.alloc(0));
  assert.equal(opened, 'signing');
});

test('a token lookup costs one hash, even after a rotation', () => {
  const both = new MasterKey(...secrets);
  both.select(newName, null);
  assert.equal(both.keysFor('token checksum').others.length, 0);
  both.select(newName, oldName);
  let lookups = 0;
  assert.equal(
    both.keysFor('token checksum').some(() => {
      lookups += 1;
      return true;
    }),
    true,
  );
  assert.equal(lookups, 1);
});
