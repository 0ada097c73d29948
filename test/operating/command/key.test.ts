import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { addKey } from '../../support/api-key.ts';
import { runInProcess } from '../../support/run-command.ts';
import { SendClient } from '../../support/send-client.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { addSender } from '../../support/shop.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, shop, databaseUrl: url } = await openTestShop({ worker: false });
await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
const world = new SessionWorld(database, shop.id);
const environment = { DATABASE_URL: url, SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64') };

function run(...args: string[]) {
  return runInProcess(args, environment);
}

/** Returns the audit log entries of commands and deletes them. */
async function takeEntries(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `with taken as (delete from audit_event where remote_address = 'command line' returning id, kind, account_id, detail)
     select kind, account_id, detail from taken order by id`,
  );
  return rows;
}

async function status(key: string): Promise<number> {
  return (await new SendClient(service, key).send()).status;
}

function ended(key: string): Promise<unknown> {
  return waitFor('the key to end', async () => (await status(key)) === 401, 1_000);
}

interface ListedKey {
  readonly mode: string;
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly networks: readonly string[] | null;
  readonly templates: readonly string[] | null;
  readonly createdBy: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

async function listed(): Promise<ListedKey[]> {
  const { code, out, err } = await run('key', 'list', shop.id, '--json');
  assert.equal(code, 0, err);
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line): ListedKey => JSON.parse(line));
}

test('a key is printed alone, works at once while the service runs, and appears in list and audit log', async () => {
  const made = await run(
    'key',
    'create',
    shop.id,
    '--name',
    'Shop server',
    '--scope',
    'messages:send',
  );
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /^sp_46100_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}\n$/);
  const key = made.out.trim();
  assert.equal(await status(key), 200);
  const [one, ...others] = await listed();
  assert.ok(one);
  assert.deepEqual(others, []);
  assert.match(made.err, new RegExp(`^This is shown once\\. The key’s ID is ${one.id}\\.\\n$`));
  assert.deepEqual(one.scopes, ['messages:send']);
  assert.equal(one.createdBy, null);
  assert.equal(one.expiresAt, null);
  const table = await run('key', 'list', shop.id);
  const [head = '', line = ''] = table.out.split('\n');
  assert.match(head, /^ID +KEY +NAME +MODE +SCOPES +LIMITS +CREATED BY +EXPIRES +LAST USED$/);
  assert.match(
    line,
    new RegExp(`^${one.id}  sp_46100_…${key.slice(-11, -7)}  Shop server  live  messages:send  -`),
  );
  assert.equal(table.out.includes(key), false);
  assert.deepEqual(await takeEntries(), [
    {
      kind: 'api_key_created',
      account_id: shop.id,
      detail: { id: one.id, mode: 'live', scopes: 'messages:send' },
    },
  ]);
});

test('a key for the API of a provider has its permissions, and the variables of its SDK are printed', async () => {
  const created = await run('key', 'create', shop.id, '--name', 'SDK', '--for', 'resend');
  const [, key = '', url = ''] =
    /^RESEND_API_KEY=(sp_\S+)\nRESEND_BASE_URL=(http:\S+)\n$/.exec(created.out) ?? [];
  assert.ok(key, created.out);
  assert.match(url, /^http:\/\/[\w.:[\]]+\/resend$/);
  const json = await run('key', 'create', shop.id, '--name', 'J', '--for', 'resend', '--json');
  const { environment, key: other } = JSON.parse(json.out);
  assert.deepEqual(environment, { RESEND_API_KEY: other, RESEND_BASE_URL: url });
  const unknown = await run('key', 'create', shop.id, '--name', 'No', '--for', 'other');
  assert.match(
    unknown.err,
    /--for must be one of resend, postmark, sendgrid, mailgun, ses, not "other"/,
  );
  const neither = await run('key', 'create', shop.id, '--name', 'No');
  assert.match(neither.err, /--scope, or name an API with --for/);
});

test('a key for Amazon’s SDKs has a secret to sign with, also after a rotation, which prints it', async () => {
  const created = await run('key', 'create', shop.id, '--name', 'SES', '--for', 'ses', '--json');
  const { id, environment } = JSON.parse(created.out);
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_SESV2 } = environment;
  assert.equal(AWS_ACCESS_KEY_ID, `46100_${id.replaceAll('-', '')}`);
  assert.match(AWS_SECRET_ACCESS_KEY, /^[0-9A-Za-z]{40}$/);
  assert.match(AWS_ENDPOINT_URL_SESV2, /^http:\S+\/ses$/);
  const rotated = await run('key', 'rotate', shop.id, id);
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(
    rotated.out,
    /^sp_\S+\nAWS_ACCESS_KEY_ID=46100_[0-9a-f]{32}\nAWS_SECRET_ACCESS_KEY=[0-9A-Za-z]{40}\n$/,
  );
  assert.ok(!rotated.out.includes(AWS_SECRET_ACCESS_KEY));
});

test('scopes, networks and templates are repeatable, and a key expires as requested', async () => {
  const made = await run(
    ...['key', 'create', shop.id, '--name', 'Limited', '--scope', 'messages:send'],
    ...['--scope', 'messages:status', '--scope', 'messages:send', '--expires-in-days', '30'],
    ...['--network', '192.0.2.0/24', '--network', '2001:db8::/48', '--template', 't-0001'],
  );
  assert.equal(made.code, 0, made.err);
  const [one] = await listed();
  assert.deepEqual(one?.scopes, ['messages:send', 'messages:status']);
  assert.deepEqual(one.networks, ['192.0.2.0/24', '2001:db8::/48']);
  assert.deepEqual(one.templates, ['t-0001']);
  const days = (Date.parse(one.expiresAt ?? '') - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days <= 30, String(days));
  assert.match(made.err, new RegExp(`It works until ${one.expiresAt}`));
  assert.equal(await status(made.out.trim()), 401, 'another network');
  await takeEntries();
});

test('a rotated key works for the overlap, and a revoked one ends within a second', async () => {
  const first = (await run('key', 'create', shop.id, '--name', 'R', '--scope', 'messages:send'))
    .out;
  const [{ id: firstId } = { id: '' }] = await listed();
  const second = await run('key', 'rotate', shop.id, firstId, '--overlap-hours', '2');
  assert.equal(second.code, 0, second.err);
  assert.match(second.err, /The old key works for another 2 h\.\n$/);
  for (const key of [first, second.out]) assert.equal(await status(key.trim()), 200);
  const [newest, old] = await listed();
  assert.deepEqual(
    [newest?.name, newest?.scopes, newest?.expiresAt],
    ['R', ['messages:send'], null],
  );
  assert.ok(Math.abs(Date.parse(old?.expiresAt ?? '') - Date.now() - 7_200_000) < 60_000);

  const third = await run('key', 'rotate', shop.id, newest?.id ?? '', '--overlap-hours', '0');
  assert.match(third.err, /The old key no longer works\.\n$/);
  await ended(second.out.trim());
  const again = await run('key', 'rotate', shop.id, newest?.id ?? '');
  assert.equal(again.code, 1);
  assert.match(again.err, /has no active API key/);

  const [{ id: thirdId } = { id: '' }] = await listed();
  assert.equal(await status(third.out.trim()), 200);
  assert.equal((await run('key', 'revoke', shop.id, thirdId)).code, 0);
  await ended(third.out.trim());
  assert.equal((await run('key', 'revoke', shop.id, thirdId)).code, 1);
  const kinds = (await takeEntries()).map((entry) => (entry as { kind: string }).kind);
  const rotated = ['api_key_created', 'api_key_rotated'];
  assert.deepEqual(kinds, ['api_key_created', ...rotated, ...rotated, 'api_key_removed']);
});

test('invalid arguments give a clear message and leave nothing behind', async () => {
  // The last use of keys is written in the background, also during this test.
  const keys = async () => (await listed()).map(({ lastUsedAt: _, ...rest }) => rest);
  const before = await keys();
  const create = ['key', 'create', shop.id, '--name', 'No', '--scope', 'messages:send'];
  for (const [args, sentence] of [
    [['key', 'create', 'nobody', ...create.slice(3)], /Account nobody not found\./],
    [['key', 'create', 'no body', ...create.slice(3)], /"no body" is not a valid account ID/],
    [
      [...create, '--scope', 'messages:all'],
      /--scope "messages:all" is unknown; use any of .*messages:send/,
    ],
    [[...create, '--scope', 'users:write'], /--scope can’t include users:write: only people/],
    [[...create, '--network', '10.0.0.0/33'], /--network “10\.0\.0\.0\/33” is not a network/],
    [[...create, '--network', 'fe80::1%eth0'], /is not a network/],
    [[...create, '--template', 't-none'], /--template not found in the account: t-none\./],
    [[...create, '--template', 't-0001', '--scope', 'senders:read'], /limited to templates/],
    [
      [...create, '--expires-in-days', '0'],
      /--expires-in-days must be a whole number from 1 to 3650/,
    ],
    [['key', 'create', shop.id, '--name', ' ', '--scope', 'messages:send'], /--name must have/],
    [['key', 'revoke', shop.id, 'sp_46100_secret'], /must be an API key ID/],
    [['key', 'revoke', shop.id, '019a0000-0000-7000-8000-000000000000'], /has no API key/],
    [
      ['key', 'rotate', shop.id, '019a0000-0000-7000-8000-000000000000', '--overlap-hours', '721'],
      /from 0 to 720/,
    ],
    [['key', 'list', '46999'], /Account 46999 not found/],
  ] as const) {
    const response = await run(...args);
    assert.equal(response.code, 1, args.join(' '));
    assert.match(response.err, sentence);
    assert.match(response.err, /^signalpost: [^\n]+\n$/);
    assert.equal(response.out, '');
  }
  assert.deepEqual(await keys(), before);
  assert.deepEqual(await takeEntries(), []);
});

test("a key that can't be recorded is not created, and a name can't write to the terminal", async () => {
  await database.pool.query(
    'alter table audit_event add constraint full_disk check (false) not valid',
  );
  // The last use of keys is written in the background, also during this test.
  const ids = async () => (await listed()).map(({ id }) => id);
  const before = await ids();
  const refused = await run('key', 'create', shop.id, '--name', 'N', '--scope', 'messages:send');
  await database.pool.query('alter table audit_event drop constraint full_disk');
  assert.notEqual(refused.code, 0);
  assert.equal(refused.out, '');
  assert.deepEqual(await ids(), before);
  const name = 'a\u001b[2Jb\nc';
  await run('key', 'create', shop.id, '--name', name, '--scope', 'messages:send');
  const { out } = await run('key', 'list', shop.id);
  assert.match(out, /a�\[2Jb�c/);
  assert.equal(out.includes('\u001b'), false);
  await takeEntries();
});

test('ASVS 4.0.3 3.3.3: disabling a person removes their keys, except those that an owner takes over', async () => {
  const other = await world.addAccount('46300');
  const leaver = await world.addPerson({ accounts: [shop.id, other] });
  const newOwner = await world.addPerson({ accounts: [other] });
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: newOwner.id,
    role: 'owner',
  });
  const createdBy = leaver.id;
  const kept = await addKey(database, shop.id, { createdBy, scopes: ['messages:send'] });
  const lost = await addKey(database, other, { createdBy, scopes: ['messages:send'] });
  assert.equal(await status(kept), 200);

  const stranger = await world.addPerson();
  for (const wrong of ['nobody@shop.test', leaver.email, stranger.email]) {
    const refused = await run('user', 'disable', leaver.email, '--keys-to', wrong);
    assert.equal(refused.code, 1, wrong);
    assert.match(
      refused.err,
      /--keys-to must be the email address of another user who owns an account/,
    );
  }
  assert.equal(await status(kept), 200);

  const done = await run(
    'user',
    'disable',
    leaver.email,
    '--keys-to',
    newOwner.email.toUpperCase(),
  );
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /1 API key revoked, 1 transferred\.\n$/);
  assert.equal(await status(kept), 200);
  const { rows } = await database.pool.query('select from api_key where account_id = $1', [other]);
  assert.deepEqual(rows, [], `the key of an account that the new owner does not own: ${lost}`);
  assert.deepEqual(
    (await takeEntries()).map((entry) => (entry as { kind: string }).kind),
    ['api_keys_taken_over', 'user_disabled'],
  );
  // The accounts keep an owner.
  const remaining = await world.addPerson({ accounts: [other] });
  for (const accountId of [shop.id, other])
    await saveMembership(database.kysely, { accountId, personId: remaining.id, role: 'owner' });
  const withoutTransfer = await run('user', 'disable', newOwner.email);
  assert.equal(withoutTransfer.code, 0, withoutTransfer.err);
  assert.match(withoutTransfer.out, /1 API key revoked\.\n$/);
  await ended(kept);
});

test('a command on a folder without an installation says so, and creates nothing', async () => {
  const dataDir = join(temporaryFolder(), 'elsewhere');
  const { code, err } = await runInProcess(['key', 'list', shop.id], { DATA_DIR: dataDir });
  assert.equal(code, 1);
  assert.match(err, /There is no installation in .*elsewhere\. Start the service first/);
  assert.equal(existsSync(dataDir), false);
});

test('key create --test creates a test key, which keeps its mode when rotated', async () => {
  const made = await run(
    ...['key', 'create', shop.id, '--name', 'CI', '--scope', 'messages:send', '--test'],
  );
  assert.match(made.out, /^sp_46100_test/, made.err);
  const [{ id = '' } = {}] = await listed();
  const rotated = await run('key', 'rotate', shop.id, id);
  assert.match(rotated.out, /^sp_46100_test/, rotated.err);
  assert.deepEqual(
    (await listed()).slice(0, 2).map(({ mode }) => mode),
    ['test', 'test'],
  );
  const entries = (await takeEntries()) as { kind: string; detail: { mode?: string } }[];
  const created = entries.filter(({ kind }) => kind === 'api_key_created');
  assert.deepEqual(
    created.map(({ detail }) => detail.mode),
    ['test', 'test'],
  );
});
