import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { DkimKeyStore } from '../../../src/accounts/sender/dkim-key-store.ts';
import { DomainDirectory, SenderDirectory } from '../../../src/accounts/sender/sender-directory.ts';
import { readSender, saveSender } from '../../../src/accounts/sender/sender-store.ts';
import type {
  DomainRecord,
  SendingDomain,
  ServiceNames,
} from '../../../src/accounts/sender/sending-domain.ts';
import {
  changeSendingDomain,
  claimDueDomains,
  readFindings,
  readSendingDomain,
  removeSendingDomain,
} from '../../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../../src/accounts/sender/sending-domains.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { saveShop } from '../../support/shop.ts';
import { TestDns, type TestZone } from '../../support/test-dns.ts';
import { testKey } from '../../support/test-service.ts';
import { createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { database } = nodes;
const { kysely } = database;
const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)]);
const mailHost = 'mail.sender.test';
const service: ServiceNames = {
  delivery: 'direct',
  host: mailHost,
  spfMechanisms: ['ip4:192.0.2.10', 'ip6:2001:db8::10'],
  recordsElsewhere: [],
  usesReturnPath: true,
  trackingTarget: 'links.sender.test',
};
const keys = new DkimKeyStore(testKey);
const sendingDomains = new SendingDomains({
  database,
  dns,
  keys,
  service,
  log: createLog('silent'),
});
const directory = new DomainDirectory(database, nodes.first, keys);
const accountId = 'shop' as AccountId;

before(async () => {
  await nodes.start();
  await saveShop(database, { id: accountId });
});

/** Publishes records as they are shown. */
function publish(records: readonly DomainRecord[]): void {
  for (const { name, type, value } of records) {
    const zone: TestZone = zones.zones.get(name) ?? {};
    if (type === 'TXT') zones.set(name, { ...zone, TXT: [...(zone.TXT ?? []), value] });
    else if (type === 'CNAME') zones.set(name, { CNAME: value.replace(/\.$/, '') });
    else {
      const [preference, exchange = ''] = value.split(' ');
      zones.set(name, { ...zone, MX: [[Number(preference), exchange.replace(/\.$/, '')]] });
    }
  }
}

async function add(domain: string, ed25519 = false): Promise<SendingDomain> {
  assert.equal(await sendingDomains.add(accountId, domain, { ed25519 }), true);
  return await read(domain);
}

async function read(domain: string): Promise<SendingDomain> {
  const found = await readSendingDomain(kysely, accountId, domain);
  assert.ok(found);
  return found;
}

async function check(domain: string): Promise<SendingDomain> {
  const after = await sendingDomains.check(await read(domain));
  assert.ok(after);
  return after;
}

async function findingOf(domain: string, kind: string) {
  const findings = await readFindings(kysely, accountId, domain);
  const found = findings.find((one) => one.kind === kind);
  assert.ok(found, kind);
  return found;
}

async function setUp(domain: string, ed25519 = false): Promise<void> {
  publish(await sendingDomains.records(await add(domain, ed25519)));
  assert.equal((await check(domain)).state, 'verified');
}

test('a domain is verified once exactly the records shown are published', async () => {
  const domain = await add('one.test', true);
  assert.equal(await sendingDomains.add(accountId, 'one.test'), false);
  const records = await sendingDomains.records(domain);
  assert.deepEqual(
    records.map(({ kind, type, required }) => `${kind} ${type} ${required}`),
    [
      'dkim TXT true',
      'dkim TXT true',
      'spf TXT true',
      'return-path MX true',
      'dmarc TXT true',
      'from-spf TXT false',
    ],
  );
  assert.equal((await check('one.test')).state, 'pending');
  assert.equal((await directory.find(accountId, 'one.test'))?.keys.length, 0);
  publish(records);
  assert.equal((await check('one.test')).state, 'verified');
  const findings = await readFindings(kysely, accountId, 'one.test');
  assert.deepEqual(new Set(findings.map(({ state }) => state)), new Set(['ok']));
  assert.equal(findings[0]?.resolver, zones.server);
  const signing = await waitFor('the keys to sign', async () => {
    const found = await directory.find(accountId, 'news.one.test');
    return found?.keys.length === 2 ? found : undefined;
  });
  assert.deepEqual(
    signing.keys.map(({ algorithm, domain }) => `${domain} ${algorithm}`),
    ['one.test rsa-sha256', 'one.test ed25519-sha256'],
  );
});

for (const [what, kind, change, state, explanation] of [
  ['another DKIM key', 'dkim', { TXT: ['v=DKIM1; k=rsa; p=AAAA'] }, 'wrong', /a different key/],
  ['a revoked DKIM key', 'dkim', { TXT: ['v=DKIM1; p='] }, 'wrong', /revokes/],
  ['no DKIM record', 'dkim', {}, 'missing', /No TXT record found/],
  [
    'SPF that leaves this service out',
    'spf',
    { TXT: ['v=spf1 ip4:192.0.2.99 -all'] },
    'wrong',
    /192\.0\.2\.10.*fail/,
  ],
  ['two SPF records', 'spf', { TXT: ['v=spf1 -all', 'v=spf1 +all'] }, 'wrong', /several/],
  [
    'a return path elsewhere',
    'return-path',
    { MX: [[10, 'mx.other.test']] },
    'wrong',
    /No MX record points to/,
  ],
  [
    'DMARC without a policy',
    'dmarc',
    { TXT: ['v=DMARC1; rua=mailto:x@y.test'] },
    'wrong',
    /policy/,
  ],
  [
    'two DMARC records',
    'dmarc',
    { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    'wrong',
    /several/,
  ],
  ['a broken zone', 'dkim', { fault: 'servfail' }, 'unknown', /SERVFAIL/],
] as const satisfies readonly (readonly [string, string, TestZone, string, RegExp])[]) {
  test(`${what} is reported with what was expected and found`, async () => {
    const name = `case-${kind}-${what.replace(/\W+/g, '').toLowerCase()}.test`;
    const domain = await add(name);
    const records = await sendingDomains.records(domain);
    publish(records);
    const record = records.find((one) => one.kind === kind);
    assert.ok(record);
    const rest =
      kind === 'spf'
        ? { MX: [[10, mailHost] as const] }
        : kind === 'return-path'
          ? { TXT: [records.find((one) => one.kind === 'spf')?.value ?? ''] }
          : {};
    zones.set(record.name, { ...rest, ...change });
    const after = await check(name);
    assert.equal(after.state, 'pending');
    const finding = await findingOf(name, kind);
    assert.equal(finding.state, state);
    assert.match(finding.explanation, explanation);
    assert.equal(finding.expected, record.value);
    assert.equal(finding.resolver, zones.server);
    if ('TXT' in change) assert.deepEqual(finding.found, change.TXT);
  });
}

test('an own SPF record that includes this service, and the DMARC policy of a parent, are accepted', async () => {
  const domain = await add('mail.parent.test');
  publish(
    (await sendingDomains.records(domain)).filter(
      ({ kind }) => kind === 'dkim' || kind === 'return-path',
    ),
  );
  zones.set('bounces.mail.parent.test', {
    ...zones.zones.get('bounces.mail.parent.test'),
    TXT: ['google-site-verification=x', 'v=spf1 include:spf.parent.test ~all'],
  });
  zones.set('spf.parent.test', { TXT: ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all'] });
  zones.set('_dmarc.parent.test', { TXT: ['v=DMARC1; p=reject'] });
  assert.equal((await check('mail.parent.test')).state, 'verified');
});

test('a domain breaks if a record is missing twice in a row, but not on resolver errors', async () => {
  await setUp('breaks.test');
  const [dkim] = (await sendingDomains.records(await read('breaks.test'))).filter(
    ({ kind }) => kind === 'dkim',
  );
  assert.ok(dkim);
  zones.set(dkim.name, { fault: 'servfail' });
  await check('breaks.test');
  await check('breaks.test');
  assert.equal((await read('breaks.test')).state, 'verified');
  zones.delete(dkim.name);
  assert.equal((await check('breaks.test')).state, 'verified');
  assert.equal((await check('breaks.test')).state, 'broken');
  publish([dkim]);
  assert.equal((await check('breaks.test')).state, 'verified');
});

test('keys rotate with overlap: new ones sign once published, and the old record can be removed a week later', async () => {
  await setUp('rotates.test');
  const selectors = async () =>
    (await keys.list(kysely, accountId, 'rotates.test')).map(
      ({ selector, state }) => [selector, state] as const,
    );
  const [[first] = ['']] = await selectors();
  await sendingDomains.rotate(accountId, 'rotates.test');
  await check('rotates.test');
  assert.deepEqual(
    (await selectors()).map(([, state]) => state),
    ['active', 'pending'],
  );
  assert.equal((await read('rotates.test')).state, 'verified');
  const [, next] = (await sendingDomains.records(await read('rotates.test'))).filter(
    ({ kind }) => kind === 'dkim',
  );
  assert.ok(next && !next.required);
  publish([next]);
  await check('rotates.test');
  assert.deepEqual(
    (await selectors()).map(([, state]) => state),
    ['retired', 'active'],
  );
  const signing = await keys.readSigningKeys(kysely, accountId, 'rotates.test');
  assert.notEqual(signing[0]?.selector, first);
  await database.pool.query(
    "update dkim_key set state_at = now() - interval '8 days' where selector = $1",
    [first],
  );
  await check('rotates.test');
  assert.equal((await selectors()).length, 1);
});

test('tracked links use the tracking host only while its record is found', async () => {
  await setUp('tracks.test');
  const host = 'links.tracks.test';
  await changeSendingDomain(kysely, accountId, 'tracks.test', { trackingHost: host });
  const waitUntilReady = (ready: boolean): Promise<unknown> =>
    waitFor(`the host to be ${ready ? 'used' : 'left out'}`, async () => {
      const found = await directory.find(accountId, 'tracks.test');
      return found?.trackingHost === host && found.trackingReady === ready;
    });
  assert.equal((await check('tracks.test')).state, 'verified');
  await waitUntilReady(false);
  const record = (await sendingDomains.records(await read('tracks.test'))).find(
    ({ kind }) => kind === 'tracking',
  );
  assert.ok(record && record.value === 'links.sender.test.');
  publish([record]);
  await check('tracks.test');
  await waitUntilReady(true);
  zones.delete(host);
  await check('tracks.test');
  await waitUntilReady(false);
});

test('private keys are encrypted with the installation’s key and bound to their row', async () => {
  await setUp('sealed.test');
  const { rows } = await database.pool.query<{ private_key: Buffer }>(
    "select private_key from dkim_key where domain = 'sealed.test'",
  );
  assert.ok(rows[0] && !rows[0].private_key.includes(Buffer.from('2a864886f70d010101', 'hex')));
  const stranger = new DkimKeyStore(new MasterKey(Buffer.alloc(32, 9)));
  await assert.rejects(stranger.readSigningKeys(kysely, accountId, 'sealed.test'));
  await database.pool.query("update dkim_key set selector = 'moved' where domain = 'sealed.test'");
  await assert.rejects(keys.readSigningKeys(kysely, accountId, 'sealed.test'));
});

test('a verified domain verifies its own senders only', async () => {
  for (const address of ['orders@owns.test', 'x@sub.owns.test', 'y@notowns.test'])
    await saveSender(kysely, accountId, { address, displayNames: [], verified: false });
  await setUp('owns.test');
  const verified = async (address: string) =>
    (await readSender(kysely, accountId, address))?.verified;
  assert.equal(await verified('orders@owns.test'), true);
  assert.equal(await verified('x@sub.owns.test'), false);
  assert.equal(await verified('y@notowns.test'), false);
});

test('a broken domain keeps its senders verified; a removed one only unverifies those it verified', async () => {
  const save = (address: string, verified = false): Promise<void> =>
    saveSender(kysely, accountId, { address, displayNames: [], verified });
  await save('orders@leaves.test');
  await save('again@leaves.test');
  await save('by-operator@leaves.test', true);
  await setUp('leaves.test');
  await save('again@leaves.test', false);
  await save('again@leaves.test', true);
  const senders = new SenderDirectory(database, nodes.second);
  const verified = async (address: string) => (await senders.sender(accountId, address))?.verified;
  const records = await sendingDomains.records(await read('leaves.test'));
  for (const { name } of records) zones.delete(name);
  await check('leaves.test');
  assert.equal((await check('leaves.test')).state, 'broken');
  assert.equal(await verified('orders@leaves.test'), true);
  assert.equal(
    await kysely
      .transaction()
      .execute((transaction) => removeSendingDomain(transaction, accountId, 'leaves.test')),
    true,
  );
  await waitFor('the other node', async () => !(await verified('orders@leaves.test')));
  assert.equal(await verified('by-operator@leaves.test'), true);
  assert.equal(await verified('again@leaves.test'), true);
});

test('ASVS 4.0.3 11.1.6: removing a domain during a check or key rotation is safe', async () => {
  const remove = () =>
    kysely
      .transaction()
      .execute((transaction) => removeSendingDomain(transaction, accountId, 'hasty.test'));
  const checked = await add('hasty.test');
  await remove();
  assert.equal(await sendingDomains.check(checked), undefined);
  await add('hasty.test');
  /** Removes the domain after it was read and before its new keys are written. */
  class RemovingKeys extends DkimKeyStore {
    override async list(...args: Parameters<DkimKeyStore['list']>) {
      const found = await super.list(...args);
      await remove();
      return found;
    }
  }
  const removingKeys = new RemovingKeys(testKey);
  const other = new SendingDomains({
    database,
    dns,
    keys: removingKeys,
    service,
    log: createLog('silent'),
  });
  assert.equal(await other.rotate(accountId, 'hasty.test'), false);
  assert.deepEqual(await keys.list(kysely, accountId, 'hasty.test'), []);
});

test('due domains are claimed by a single node, one of each account at a time', async () => {
  await database.pool.query("update sending_domain set next_check_at = now() - interval '1 s'");
  const names: string[] = [];
  for (;;) {
    const claims = await Promise.all([claimDueDomains(kysely, 50), claimDueDomains(kysely, 50)]);
    const claimed = claims.flat().map(({ domain }) => domain);
    if (claimed.length === 0) break;
    assert.ok(claimed.length <= 2);
    names.push(...claimed);
  }
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 5);
});
