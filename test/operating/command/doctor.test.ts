import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { withDatabase } from '../../../scripts/scratch-database.ts';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { newMessageId } from '../../../src/base/values/ids.ts';
import { addPasskey } from '../../support/add-passkey.ts';
import { addKey } from '../../support/api-key.ts';
import { startSink } from '../../support/mail-sink.ts';
import { runInProcess } from '../../support/run-command.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { openShop } from '../../support/shop.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { adminUrl, createTestDatabase } from '../../support/test-database.ts';
import { TestDns } from '../../support/test-dns.ts';
import { writeCertificate } from '../../support/tls-server.ts';

const root = join(import.meta.dirname, '../../..');
const folder = temporaryFolder();
const dataDir = join(folder, 'data');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };

async function doctor({
  args,
  ...settings
}: Record<string, string>): Promise<{ code: unknown; said: string }> {
  const command = ['doctor', ...(args === undefined ? [] : [args])];
  const { code, out, err } = await runInProcess(command, settings);
  return { code, said: out + err };
}

test('doctor finds an unreachable database, without revealing its password', async () => {
  const { code, said } = await doctor({
    ...environment,
    DATABASE_URL: 'postgres://user:hidden-password@127.0.0.1:1/mail',
  });
  assert.match(said, /^FAIL database {2}Can’t use the database at 127\.0\.0\.1:1\/mail/m);
  assert.doesNotMatch(said, /hidden-password/);
  assert.equal(code, 1);
});

test('ASVS 4.0.3 1.2.1: doctor names a database role that is a superuser', async () => {
  const { url } = await createTestDatabase();
  const asAdmin = withDatabase(adminUrl(), new URL(url).pathname.slice(1));
  const { said } = await doctor({ ...environment, DATABASE_URL: asAdmin });
  assert.match(said, /database {2}.*\bits role \S+ is a superuser\n\s+Use a role that only owns/);
});

test('doctor finds an unreachable relay', async () => {
  const { code, said } = await doctor({
    ...environment,
    SMTP_URL: 'smtp://user:hidden-password@127.0.0.1:1',
  });
  assert.match(said, /^FAIL mail .*127\.0\.0\.1:1/m);
  assert.doesNotMatch(said, /hidden-password/);
  assert.equal(code, 1);
});

test('doctor names misspelled settings and those that were meant', async () => {
  const { code, said } = await doctor({ ...environment, SMTP_ULR: 'smtp://relay.example:25' });
  assert.match(said, /SMTP_ULR isn’t a setting and has no effect\. Did you mean SMTP_URL\?/);
  assert.equal(code, 1);
});

test('doctor names the setting that enables password links and notices', async () => {
  const relay = { ...environment, SMTP_URL: 'smtp://127.0.0.1:1' };
  assert.match(
    (await doctor(relay)).said,
    /^ok {3}notices .*\n\s+To send them, set SYSTEM_MAIL_FROM/m,
  );
  const named = { ...relay, SYSTEM_MAIL_FROM: 'no-reply@shop.test' };
  assert.match((await doctor(named)).said, /^ok {3}notices .*come from no-reply@shop\.test$/m);
  const wrong = await doctor({ ...relay, SYSTEM_MAIL_FROM: 'Shop <no address>' });
  assert.match(wrong.said, /SYSTEM_MAIL_FROM must be an email address/);
});

test("doctor finds that DNS doesn't know the name of a server that delivers directly", async () => {
  const zones = await new TestDns()
    .set('mail.sender.test', { A: ['192.0.2.10'] })
    .set('10.2.0.192.in-addr.arpa', { PTR: 'mail.sender.test' })
    .start();
  const direct = { ...environment, DELIVERY: 'direct', DNS_SERVERS: zones.server };
  const well = await doctor({ ...direct, SMTP_HOSTNAME: 'mail.sender.test' });
  assert.match(
    well.said,
    /^ok {3}mail {6}delivers directly to the recipients’ servers, as mail\.sender/m,
  );
  const wrong = await doctor({ ...direct, SMTP_HOSTNAME: 'mial.sender.test' });
  assert.match(wrong.said, /^FAIL mail {6}DNS has no address for mial\.sender\.test/m);
  assert.equal(wrong.code, 1);
  const silent = { ...direct, SMTP_HOSTNAME: 'mail.sender.test', DNS_SERVERS: '127.0.0.1:1' };
  assert.match((await doctor(silent)).said, /^FAIL mail {6}the resolvers don’t answer/m);
});

test('migrate brings a database to this release, and doctor agrees', async () => {
  const { database, url } = await createTestDatabase();
  await database.pool.query('drop schema signalpost cascade');
  const settings = { ...environment, DATABASE_URL: url };
  assert.match(
    (await doctor(settings)).said,
    /^FAIL database .*needs migrations.*\n\s+Run: signalpost migrate/m,
  );
  const run = await runInProcess(['migrate'], settings);
  assert.equal(run.code, 0);
  assert.match(run.out, /The database is up to date/);
  assert.match((await doctor(settings)).said, /^ok {3}database/m);
});

test('migrate --plan and doctor name users whose tokens sent email that their role can’t send, and what to change', async () => {
  const { database, url } = await createTestDatabase();
  const settings = { ...environment, DATABASE_URL: url };
  const shop = await openShop(database);
  const world = new SessionWorld(database, shop.id);
  const viewer = await world.addPerson({ accounts: [] });
  const unused = await world.addPerson({ accounts: [] });
  for (const personId of [viewer.id, unused.id])
    await saveMembership(database.kysely, { accountId: shop.id, personId, role: 'viewer' });
  const { clientId } = shop.integration;
  await database.pool.query('insert into session_pair (person_id, client_id) values ($1, $2)', [
    viewer.id,
    clientId,
  ]);
  await addKey(database, shop.id, { scopes: ['users:write', 'lists:read'] });
  const before = await doctor(settings);
  assert.doesNotMatch(before.said, new RegExp(viewer.email));
  await database.pool.query(
    `insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
       track_clicks, deliver_when_delayed, client_id, accepted_at, state_at)
     values ($1, $2, 90, 't-0001', 1, true, false, false, true, $3, now(), now())`,
    [shop.id, newMessageId(), clientId],
  );
  const plan = await runInProcess(['migrate', '--plan'], settings);
  assert.equal(plan.code, 0);
  const after = await doctor(settings);
  assert.equal(after.code, 1);
  for (const said of [plan.out, after.said]) {
    assert.match(said, new RegExp(`${viewer.email} \\(viewer in account 46100\\)`));
    assert.match(said, /give the program’s user the role service, or use an API key/);
    assert.match(said, /The API key “Test” of account 46100 has users:write/);
    assert.doesNotMatch(said, new RegExp(unused.email));
  }
  assert.match(plan.out, /The database is up to date/);
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: viewer.id,
    role: 'service',
  });
  assert.doesNotMatch((await doctor(settings)).said, new RegExp(viewer.email));
});

test('migrate --plan lists all migrations for an empty database and changes nothing', async () => {
  const { database, url } = await createTestDatabase();
  await database.pool.query('drop schema signalpost cascade');
  const plan = await runInProcess(['migrate', '--plan'], { ...environment, DATABASE_URL: url });
  assert.equal(plan.code, 0, plan.err);
  assert.match(plan.out, /migrations to run:\n {2}0001-foundation\.sql/);
  const { rows } = await database.pool.query(
    "select count(*)::integer as n from pg_namespace where nspname = 'signalpost'",
  );
  assert.equal(rows[0].n, 0);
});

test('doctor --production lists what production still needs, each with a fix and an existing section', async () => {
  const { url, database } = await createTestDatabase();
  await openShop(database);
  await database.kysely.updateTable('person').set({ operator: true }).execute();
  const { code, said } = await doctor({
    ...environment,
    DATABASE_URL: url,
    DEMO: '1',
    args: '--production',
  });
  assert.equal(code, 1);
  for (const name of ['address', 'proxy', 'delivery', 'domains', 'factors', 'metrics', 'demo'])
    assert.match(said, new RegExp(`^FAIL ${name.padEnd(9)} .+\\n +\\S.* See docs/\\S+\\.$`, 'm'));
  const pages = [...said.matchAll(/See docs\/([\w/-]+\.md)(?:#([\w-]+))?/g)];
  assert.ok(pages.length >= 7, said);
  for (const [, file = '', anchor] of pages) {
    const text = readFileSync(join(root, 'docs', file), 'utf8');
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    assert.ok(anchor === undefined || anchors.includes(anchor), `${file}#${anchor}`);
  }
});

test('doctor --production passes with the settings of the deployment page', async () => {
  const { url, database } = await createTestDatabase();
  const shop = await openShop(database);
  await database.kysely
    .updateTable('person')
    .set({ operator: true })
    .where('id', '=', shop.owner.id)
    .execute();
  await addPasskey(database, shop.owner.id);
  await database.pool.query(
    `insert into sending_domain (account_id, domain, state, return_path) values ($1, 'shop.test', 'verified', 'bounces')`,
    [shop.id],
  );
  const sink = await startSink();
  const { code, said } = await doctor({
    DATA_DIR: join(folder, 'production'),
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATABASE_URL: url,
    DEMO: '0',
    PUBLIC_URL: 'https://mail.shop.test',
    TRUST_PROXY: '127.0.0.1',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
    SYSTEM_MAIL_FROM: 'mail@shop.test',
    BOUNCE_PORT: '2525',
    METRICS_TOKEN: 'metrics-token-of-the-tests',
    args: '--production',
  });
  const failed = said.match(/^FAIL .*$/gm) ?? [];
  // The server of the tests isn't durable.
  assert.deepEqual(
    failed.filter((line) => !line.startsWith('FAIL server')),
    [],
    `${code} ${said}`,
  );
});

test('doctor --production checks the certificate and the ports of SMTP submission', async () => {
  const { url } = await createTestDatabase();
  const authority = new TestAuthority();
  const other = createServer((socket) => socket.end('220 another server\r\n'));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  const check = async (days: number, name: string, submissionPort: number): Promise<string> => {
    const { cert, key } = writeCertificate(authority.issue(['mail.shop.test'], days));
    const { said } = await doctor({
      ...environment,
      DATABASE_URL: url,
      SMTP_HOSTNAME: name,
      SUBMISSION_HOST: '127.0.0.1',
      SUBMISSION_PORT: String(submissionPort),
      SUBMISSION_TLS_CERT: cert.path,
      SUBMISSION_TLS_KEY: key.path,
      args: '--production',
    });
    return /^.*smtp .*$/m.exec(said)?.[0] ?? said;
  };
  assert.match(await check(-1, 'mail.shop.test', 0), /^FAIL smtp {6}the certificate has expired/);
  assert.match(
    await check(5, 'mail.shop.test', 0),
    /^FAIL smtp {6}the certificate expires in \d days/,
  );
  assert.match(
    await check(90, 'other.test', 0),
    /^FAIL smtp {6}the certificate isn’t for other\.test/,
  );
  assert.match(
    await check(90, 'mail.shop.test', port),
    new RegExp(`^FAIL smtp {6}another program uses port ${port} on 127\\.0\\.0\\.1`),
  );
  assert.match(await check(90, 'mail.shop.test', 0), /^ok {3}smtp {6}over SMTP on port 0/);
  other.close();
});

test('doctor --production tells when the certificate of the HTTP port expires, and whether it is for PUBLIC_URL', async () => {
  const { url } = await createTestDatabase();
  const authority = new TestAuthority();
  const check = async (days: number, host = 'mail.shop.test'): Promise<string> => {
    const { cert, key } = writeCertificate(authority.issue(['mail.shop.test'], days));
    const { said } = await doctor({
      ...environment,
      DATABASE_URL: url,
      PUBLIC_URL: `https://${host}`,
      TLS_CERT: cert.path,
      TLS_KEY: key.path,
      args: '--production',
    });
    assert.match(said, /^ok {3}proxy {5}none, because the service speaks TLS$/m);
    return said;
  };
  assert.match(await check(22.5), /^ok {3}tls {7}the certificate expires in 22 days$/m);
  assert.match(await check(20.5), /^FAIL tls {7}the certificate expires in 20 days\n +Renew /m);
  assert.match(await check(-1), /^FAIL tls {7}the certificate has expired$/m);
  assert.match(
    await check(60, 'other.shop.test'),
    /^FAIL tls {7}the certificate isn’t for other\.shop\.test, the host of PUBLIC_URL$/m,
  );
});
