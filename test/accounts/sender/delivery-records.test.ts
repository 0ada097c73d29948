import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRecord } from '../../../src/accounts/sender/check-record.ts';
import { domainRecords } from '../../../src/accounts/sender/domain-records.ts';
import { findZone } from '../../../src/accounts/sender/sending-domain.ts';
import {
  findNameProblems,
  type NameSettings,
  serviceNames,
} from '../../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { TestDns } from '../../support/test-dns.ts';

const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)]);

const relay: NameSettings = {
  delivery: 'relay',
  hostname: 'mail.service.test',
  smtpUrl: 'smtp://user:password@smtp.relay.test:587',
  bounceServer: undefined,
  direct: { sources: [] },
  publicUrl: 'https://mail.service.test',
};
const domain = { domain: 'shop.test', returnPath: 'bounces.shop.test', trackingHost: undefined };

function recordsWith(settings: Partial<NameSettings>): string[] {
  return domainRecords(domain, [], serviceNames({ ...relay, ...settings })).map(
    ({ kind, value, required }) => `${kind} ${value}${required ? '' : ' (optional)'}`,
  );
}

const dmarc = 'dmarc v=DMARC1; p=none; rua=mailto:dmarc@shop.test';

test('with a relay, the records let that relay send and ask for nothing that only direct delivery needs', () => {
  assert.deepEqual(recordsWith({}), [dmarc, 'from-spf v=spf1 a:smtp.relay.test ~all (optional)']);
  for (const [smtpUrl, spf] of [
    ['smtp://u:p@email-smtp.eu-west-1.amazonaws.com:587', 'include:amazonses.com'],
    ['smtps://u:p@smtp.postmarkapp.com', 'include:spf.mtasv.net'],
    [
      'smtp://u:p@smtp.sendgrid.net smtp://u:p@smtp.relay.test',
      'include:sendgrid.net a:smtp.relay.test',
    ],
    ['smtp://8.8.8.8', 'ip4:8.8.8.8'],
    // A relay in a private network sends from where this service is.
    ['smtp://postfix:25', 'a:mail.service.test'],
    ['smtp://127.0.0.1:25 smtp://[fd00::1]', 'a:mail.service.test'],
  ] as const)
    assert.deepEqual(recordsWith({ smtpUrl })[1], `from-spf v=spf1 ${spf} ~all (optional)`);
});

test('for a relay whose records only the relay knows, no SPF record is made up, and a sentence says where they are', () => {
  const smtpUrl = 'smtp://u:p@mail.smtp2go.com:2525';
  assert.deepEqual(recordsWith({ smtpUrl }), [dmarc]);
  const [problem, ...others] = findNameProblems(serviceNames({ ...relay, smtpUrl }));
  assert.deepEqual(others, []);
  assert.equal(problem?.setting, 'SMTP_URL');
  assert.match(problem.nextStep, /SMTP2GO, under Verified Senders/);
  assert.equal(
    recordsWith({ smtpUrl: `${smtpUrl} smtp://u:p@smtp.sendgrid.net` })[1],
    'from-spf v=spf1 include:sendgrid.net ~all (optional)',
  );
});

test('with a relay and BOUNCE_PORT, the return path lets the relay send and leads bounces here', () => {
  assert.deepEqual(recordsWith({ bounceServer: {} }).slice(0, 2), [
    'spf v=spf1 a:smtp.relay.test ~all',
    'return-path 10 mail.service.test.',
  ]);
});

test('direct delivery allows only its own addresses, and needs all records', () => {
  const direct = { delivery: 'direct', smtpUrl: undefined } as const;
  assert.deepEqual(recordsWith(direct), [
    'spf v=spf1 a:mail.service.test -all',
    'return-path 10 mail.service.test.',
    dmarc,
    'from-spf v=spf1 a:mail.service.test ~all (optional)',
  ]);
  const sources = [{ address: '192.0.2.10' }, { address: undefined }, { address: '2001:db8::1' }];
  assert.equal(
    recordsWith({ ...direct, direct: { sources } })[0],
    'spf v=spf1 ip4:192.0.2.10 ip6:2001:db8::1 -all',
  );
});

test('a machine name is never put into a record; the missing setting is named instead', () => {
  const problems = (settings: Partial<NameSettings>) =>
    findNameProblems(serviceNames({ ...relay, ...settings })).map(({ setting }) => setting);
  for (const hostname of [undefined, 'web-1']) {
    const records = recordsWith({ hostname, bounceServer: {}, smtpUrl: 'smtp://postfix:25' });
    assert.deepEqual(records, [dmarc]);
    const missing = problems({ hostname, bounceServer: {}, publicUrl: undefined });
    assert.deepEqual(missing, ['SMTP_HOSTNAME', 'PUBLIC_URL']);
  }
  // Without BOUNCE_PORT, no record would name this server.
  assert.deepEqual(problems({ hostname: undefined }), []);
  assert.deepEqual(problems({ hostname: undefined, smtpUrl: 'smtp://postfix:25' }), [
    'SMTP_HOSTNAME',
  ]);
  assert.deepEqual(problems({ delivery: 'inbox', smtpUrl: undefined }), ['DELIVERY']);
  const nextStep = (hostname: string | undefined) =>
    findNameProblems(serviceNames({ ...relay, delivery: 'inbox', hostname }))[0]?.nextStep ?? '';
  assert.match(nextStep(relay.hostname), /return path records after that/);
  assert.doesNotMatch(nextStep(undefined), /return path/);
});

test('the SPF record of a known relay must include it, beside whatever else is there', async () => {
  const service = serviceNames({ ...relay, smtpUrl: 'smtp://u:p@smtp.postmarkapp.com' });
  const record = domainRecords(domain, [], service).find(({ kind }) => kind === 'from-spf');
  assert.ok(record);
  zones.set('shop.test', {
    TXT: ['unrelated', 'v=spf1 include:spf.mtasv.net include:other.test -all'],
  });
  assert.equal((await checkRecord(dns, record, service)).state, 'ok');
  zones.set('shop.test', { TXT: ['v=spf1 include:other.test -all'] });
  const wrong = await checkRecord(dns, record, service);
  assert.equal(wrong.state, 'wrong');
  assert.match(wrong.explanation, /doesn’t contain include:spf\.mtasv\.net/);
});

test('the zone of a domain is found with its provider; a failed lookup decides nothing', async () => {
  zones.set('cloud.test', { NS: ['ann.ns.cloudflare.com', 'Bob.ns.cloudflare.com'] });
  zones.set('amazon.test', { NS: ['ns-1.awsdns-01.co.uk', 'ns-2.awsdns-02.org'] });
  zones.set('mixed.test', { NS: ['ann.ns.cloudflare.com', 'ns1.own.test'] });
  assert.deepEqual(await findZone(dns, 'cloud.test'), {
    name: 'cloud.test',
    provider: 'cloudflare',
  });
  assert.deepEqual(await findZone(dns, 'mail.eu.amazon.test'), {
    name: 'amazon.test',
    provider: 'route53',
  });
  assert.deepEqual(await findZone(dns, 'mixed.test'), { name: 'mixed.test', provider: undefined });
  assert.deepEqual(await findZone(dns, 'nowhere.test'), { name: undefined, provider: undefined });
  const silent = new DnsClient([parseDnsServer('127.0.0.1:1')], { timeoutMs: 200, rounds: 1 });
  assert.equal(await findZone(silent, 'cloud.test'), undefined);
});
