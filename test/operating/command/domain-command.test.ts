import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import { TlsResultStore } from '../../../src/sending/delivery/tls-report/tls-result-store.ts';
import { runInProcess } from '../../support/run-command.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { TestDns } from '../../support/test-dns.ts';

const { url, database } = await createTestDatabase();
const zones = await new TestDns().start();
await saveShop(database, { id: '46100' });
const environment = {
  DATABASE_URL: url,
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_HOSTNAME: 'mail.sender.test',
  PUBLIC_URL: 'https://links.sender.test',
  DNS_SERVERS: zones.server,
};

function run(...args: string[]) {
  return runInProcess(args, environment);
}

test('a domain is added, shown with its records, checked, rotated, warmed up and removed', async () => {
  const added = await run('domain', 'add', '46100', 'Shop.test', '--ed25519');
  assert.equal(added.code, 0, added.err);
  // What the records depend on comes first.
  assert.match(
    added.out,
    /^Signalpost isn’t sending to the internet yet\. .*\n\nshop\.test is pending/,
  );
  assert.match(added.out, /^sp\w+r\._domainkey\.shop\.test\. TXT "v=DKIM1; k=rsa; p=[^"]+" "/m);
  assert.match(added.out, /^bounces\.shop\.test\. MX 10 mail\.sender\.test\.$/m);
  const checked = await run('domain', 'check', '46100', 'shop.test');
  assert.equal(checked.code, 1);
  assert.match(checked.out, new RegExp(`missing: .*resolver ${zones.server}`));
  assert.match((await run('domain', 'rotate', '46100', 'shop.test')).out, /_domainkey/);
  assert.match(
    (await run('domain', 'warm-up', '46100', 'shop.test', '--goal', '200')).out,
    /recipients per day: 50, 71, 100, 141, then/,
  );
  const tracking = await run('domain', 'tracking', '46100', 'shop.test', 'links.shop.test');
  assert.match(tracking.out, /^links\.shop\.test\. CNAME links\.sender\.test\.$/m, tracking.err);
  assert.equal(
    (await run('domain', 'list', '46100')).out,
    'DOMAIN     STATE\nshop.test  pending\n',
  );
  assert.equal((await run('domain', 'remove', '46100', 'shop.test')).code, 0);
  assert.equal((await run('domain', 'list', '46100')).out, 'none\n');
});

test('invalid arguments give a one-sentence message', async () => {
  for (const [args, sentence] of [
    [['domain', 'add', '46100', 'no domain'], /"no domain" is not a valid domain/],
    [['domain', 'add', 'nobody', 'a.test'], /Account nobody not found/],
    [['domain', 'show', '46100', 'other.test'], /no sending domain other\.test/],
    [['destination', 'set', 'unknown', '--rate', '5'], /Destination unknown not found/],
    [['destination', 'set', 'unknown'], /Use --rate/],
    [['destination', 'set', 'unknown', '--rate', '5', '--learn'], /or --learn alone/],
    [
      ['destination', 'set', 'unknown', '--messages-per-connection', '2.5'],
      /--messages-per-connection must be a whole number/,
    ],
    [['domain', 'tracking', '46100', 'other.test', 'links.test'], /no sending domain other\.test/],
    [['domain', 'tracking', '46100', 'other.test'], /Name a host/],
    [['source', 'warm-up', '192.0.2.1'], /Use --goal/],
    [['destination', 'tls', '--days', '0'], /--days must be a whole number from 1 to 60/],
  ] as const) {
    const response = await run(...args);
    assert.equal(response.code, 1);
    assert.match(response.err, sentence);
  }
});

test('the limits of a destination are shown, overridden and learned again', async () => {
  const store = new ShapingStore(database, newId(), Date.now);
  const heartbeat = { name: 'google', label: 'Gmail', startRate: 20, startConnections: 40 };
  const sendHeartbeat = () => store.heartbeat([{ ...heartbeat, demand: 1, sent: 3 }]);
  await sendHeartbeat();
  // Nodes do this every second; older heartbeats no longer count.
  const heartbeats = setInterval(() => void sendHeartbeat(), 1_000);
  const { out } = await run('destination', 'list');
  clearInterval(heartbeats);
  const learnedLimits = /^google +20\/s +40 +100 +3/m;
  assert.match(out, learnedLimits);
  const list = async () => (await run('destination', 'list')).out;
  const fix = ['--rate', '2.5', '--connections', '3', '--messages-per-connection', '7'];
  assert.equal((await run('destination', 'set', 'google', ...fix)).code, 0);
  assert.match(await list(), /^google +2\.5\/s \(fixed\) +3 \(fixed\) +7 \(fixed\) +/m);
  await run('destination', 'set', 'google', '--learn');
  assert.match(await list(), /^google +20\/s +40 +100 +/m);
  const [known] = await store.list();
  const session = { maxMessages: 12, learnedAt: Date.now(), reason: '421 too many messages' };
  assert.ok(known !== undefined);
  await store.save('google', known.version, { ...known.throttle, session }, null);
  assert.match(await list(), / 12 \(since 20[^ ]+Z: 421 too many messages\) /);
});

test('TLS results are listed by day and domain, with failures', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const session = { policyType: 'sts', host: 'mx.people.test' } as const;
  await new TlsResultStore(database, newId()).add([
    { ...session, domain: 'people.test', type: 'success', sessions: 40 },
    { ...session, domain: 'people.test', type: 'certificate-expired', sessions: 3 },
    { ...session, domain: 'other.test', type: 'success', sessions: 5 },
  ]);
  const { out, code } = await run('destination', 'tls', '--days', '2');
  assert.equal(code, 0);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines, [
    ['DAY', 'DOMAIN', 'POLICY', 'ENCRYPTED', 'FAILED', 'FAILURES'],
    [day, 'other.test', 'sts', '5', '0', '-'],
    [day, 'people.test', 'sts', '40', '3', '3 certificate-expired (mx.people.test)'],
  ]);
  const one = await run('destination', 'tls', 'Other.test');
  assert.equal(one.out.trimEnd().split('\n').length, 2);
});

test('listing the domains of a nonexistent account is an error', async () => {
  const { code, err } = await run('domain', 'list', '9999');
  assert.deepEqual([code, err], [1, 'signalpost: Account 9999 not found.\n']);
});
