import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAdminStatement } from '../../../scripts/scratch-database.ts';
import { runInProcess } from '../../support/run-command.ts';
import { sendRequest } from '../../support/send-request.ts';
import {
  clientSecret,
  openSessionWorld,
  passwordFields,
  postToken,
  refreshFields,
} from '../../support/session-world.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { adminUrl } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url, database, service, world } = await openSessionWorld();
const client = await world.addIntegration();
const person = await world.addPerson();
/** The key of the test service. */
const environment = { DATABASE_URL: url, SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64') };

function run(...args: string[]) {
  return runInProcess(args, environment);
}

function grant(secret = clientSecret): ReturnType<typeof postToken> {
  return postToken(service, { ...passwordFields(person, client), client_secret: secret });
}

test('the rest of the allowance is shown, and raised for one integration', async () => {
  for (let count = 0; count < 5; count += 1) assert.equal((await grant()).status, 200);
  assert.equal((await grant()).status, 429);
  const before = await run('integration', 'show', client.clientId);
  assert.match(before.out, new RegExp(`${person.email}: 5 used, 0 left`));
  assert.equal((await run('integration', 'set', client.clientId, '--allowance', '7')).code, 0);
  assert.equal((await grant()).status, 200);
  const after = await run('integration', 'show', client.clientId);
  assert.match(after.out, /allowance {6}7/);
  assert.match(after.out, /6 used, 1 left/);
  await database.pool.query("update session_pair set initial_requests = '{}'");
});

test('a rotated secret is printed once, and the old one works only for the overlap', async () => {
  const rotated = await run('integration', 'rotate-secret', client.clientId, '--overlap', '1h');
  assert.equal(rotated.code, 0, rotated.err);
  const secret = rotated.out.trim();
  assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
  await waitFor('the new secret', async () => (await grant(secret)).status === 200, 1_000);
  assert.equal((await grant()).status, 200);
  assert.match(
    (await run('integration', 'show', client.clientId)).out,
    /old secret {5}works until/,
  );
  const again = await run('integration', 'rotate-secret', client.clientId, '--overlap', '0');
  await waitFor(
    'the second secret',
    async () => (await grant(again.out.trim())).status === 200,
    1_000,
  );
  await database.pool.query("update session_pair set initial_requests = '{}'");
  assert.equal((await grant(secret)).body.error, 'invalid_client');
  assert.equal((await grant()).body.error, 'invalid_client');
});

test('a disabled integration is refused within a second, and works again when enabled', async () => {
  const other = await world.addIntegration();
  const grantOther = () => postToken(service, passwordFields(person, other));
  assert.equal((await grantOther()).status, 200);
  await run('integration', 'set', other.clientId, '--disabled', 'yes');
  assert.match(
    (await run('integration', 'list')).out,
    new RegExp(`^${other.clientId} .* disabled$`, 'm'),
  );
  await waitFor(
    'the refusal',
    async () => (await grantOther()).body.error === 'invalid_client',
    1_000,
  );
  await run('integration', 'set', other.clientId, '--disabled', 'no');
  await waitFor('the answer', async () => (await grantOther()).status === 200, 1_000);
});

test('a disabled user is locked out everywhere within a second, and can sign in again when enabled', async () => {
  const [person, other] = [await world.addPerson(), await world.addIntegration()];
  const { body } = await postToken(service, passwordFields(person, other));
  const tokenStatus = async () => {
    const headers = { authorization: `Bearer ${String(body.access_token)}` };
    return (await sendRequest(`${service.url}/api/1/list`, { headers })).status;
  };
  assert.equal(await tokenStatus(), 200);
  assert.equal((await run('user', 'disable', person.email.toUpperCase())).code, 0);
  await waitFor('the token to end', async () => (await tokenStatus()) === 401, 1_000);
  const refresh = () => postToken(service, refreshFields(body.refresh_token, other));
  assert.equal((await refresh()).body.error, 'invalid_grant');
  const grantAgain = () => postToken(service, passwordFields(person, other));
  assert.equal((await grantAgain()).body.error, 'invalid_grant');
  assert.match((await run('user', 'enable', person.email)).out, /can sign in again/);
  assert.equal((await grantAgain()).status, 200);
  assert.equal(await tokenStatus(), 401, 'revoked tokens stay revoked');
  const { out } = await run('audit', '--person', person.email);
  assert.match(out, /user_enabled +success.*user_disabled +success/s);
});

test('an operator removes a lost second factor', async () => {
  const person = await world.addPerson();
  const none = await run('user', 'remove-second-factor', person.email);
  assert.equal(none.code, 1);
  assert.match(none.err, /has no second factor/);
  await database.pool.query(
    "insert into second_factor (person_id, secret, confirmed_at) values ($1, '', now())",
    [person.id],
  );
  await database.pool.query(
    `insert into passkey (id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
     values ($1, $1, '', '', 0, '{}', 'Lost phone', now())`,
    [person.id],
  );
  assert.equal((await run('user', 'remove-second-factor', person.email)).code, 0);
  const { rows } = await database.pool.query(
    'select person_id from second_factor union all select person_id from passkey',
  );
  assert.equal(rows.length, 0);
  assert.match((await run('audit', '--person', person.email)).out, /second_factor_removed/);
  assert.match((await run('user', 'disable', 'no@one.test')).err, /User "no@one.test" not found/);
});

test('the audit log is filtered by person, kind, outcome and time, and contains no secret', async () => {
  await postToken(service, { ...passwordFields(person, client), client_secret: clientSecret });
  const stranger = await world.addPerson();
  const other = await world.addIntegration();
  await postToken(service, { ...passwordFields(stranger, other), password: 'wrong password' });
  const { out } = await run('audit', '--person', stranger.email.toUpperCase());
  assert.match(
    out,
    new RegExp(` password_grant +refused +${stranger.email} +${other.clientId} +1000 +127.0.0.1 `),
  );
  assert.equal(out.trim().split('\n').length, 2, 'with the headings');
  const rotations = await run(
    'audit',
    '--client',
    client.clientId,
    '--kind',
    'client_secret_rotated',
  );
  assert.equal(rotations.out.trim().split('\n').length, 3, 'with the headings');
  assert.match(rotations.out, new RegExp(` ${client.clientId} +1000 +command line`));
  const json = await run('audit', '--kind', 'password_grant', '--outcome', 'refused', '--json');
  const lines = json.out
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  assert.ok(lines.length >= 1);
  assert.equal((await run('audit', '--since', '2999-01-01')).out, 'none\n');
  const one = (await run('audit', '--json', '--limit', '1')).out;
  assert.equal(one.trim().split('\n').length, 1);
  assert.equal((await run('audit', '--json', '--most', '1')).out, one);
  const all = (await run('audit', '--json', '--limit', '1000')).out;
  assert.equal(/correct horse|wrong password|a client secret|sp[arcl]_/.test(all), false);
});

test('invalid arguments give a one-sentence message and exit code 1', async () => {
  for (const args of [
    ['integration', 'show', 'nobody'],
    ['integration', 'set', client.clientId],
    ['integration', 'set', client.clientId, '--allowance', '0'],
    ['integration', 'rotate-secret', client.clientId, '--overlap', 'soon'],
    ['audit', '--since', 'yesterday'],
  ]) {
    const { code, err } = await run(...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(err, /^signalpost: [^\n]+\n$/);
  }
});

test('a missing or empty database gives a one-sentence message', async () => {
  const empty = `empty_${process.pid}`;
  await runAdminStatement(adminUrl(), `create database ${empty}`);
  for (const [name, sentence] of [
    [empty, /doesn’t have the schema of this release\. Run signalpost migrate/],
    ['nowhere', /Can’t use the database at .*: database "nowhere" does not exist/],
  ] as const) {
    const wrong = new URL(url);
    wrong.pathname = `/${name}`;
    for (const args of [['audit'], ['integration', 'list'], ['queue', 'pause', '1']]) {
      const { code, err } = await runInProcess(args, { ...environment, DATABASE_URL: wrong.href });
      assert.equal(code, 1);
      assert.match(err, sentence);
      assert.equal(err.split('\n').length, 2, err);
    }
  }
  await runAdminStatement(adminUrl(), `drop database ${empty}`);
});

test('an invalid date is rejected; a day means its beginning', async () => {
  for (const since of ['2026-02-30', '2026-02-30T12:00Z', 'foo 1']) {
    const { code, err } = await run('audit', '--since', since);
    assert.equal(code, 1, since);
    assert.match(err, /^signalpost: --since must be a time such as/);
  }
  assert.equal((await run('audit', '--since', '2026-01-31')).code, 0);
});

test('an unknown outcome is rejected', async () => {
  const { code, err } = await run('audit', '--outcome', 'foo');
  assert.deepEqual(
    [code, err],
    [1, 'signalpost: --outcome must be success or refused, not "foo".\n'],
  );
});

test('a link to set a password is printed alone, works once, and is recorded', async () => {
  const { email } = await world.addPerson();
  const made = await run('user', 'password-link', email);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /^http:\/\/\S+\/set-password\/spl_[A-Za-z0-9_-]{59}\n$/);
  const browser = new TestBrowser(service.url);
  const { pathname } = new URL(made.out.trim());
  const page = await browser.open(pathname);
  const set = await browser.submit(page, { new: 'a password of my own' });
  assert.match(set.text, /Password set/);
  assert.match((await browser.open(pathname)).text, /Link expired/);
  const log = await run('audit', '--kind', 'password_link_made', '--person', email);
  assert.match(log.out, /password_link_made +success/);
  const unknown = await run('user', 'password-link', 'nobody@shop.test');
  assert.match(unknown.err, /User "nobody@shop\.test" not found/);
});
