import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRecord } from '../../../src/accounts/sender/check-record.ts';
import type { DomainRecord, ServiceNames } from '../../../src/accounts/sender/sending-domain.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { TestDns } from '../../support/test-dns.ts';

const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)]);
const service: ServiceNames = {
  delivery: 'relay',
  host: undefined,
  spfMechanisms: ['include:relay.test'],
  recordsElsewhere: [],
  usesReturnPath: false,
  trackingTarget: undefined,
};
let count = 0;

/** The state of a record that is published as given. */
async function stateOf(kind: 'dmarc' | 'spf', text: string): Promise<string> {
  count += 1;
  const name = kind === 'dmarc' ? `_dmarc.d${count}.test` : `d${count}.test`;
  zones.set(name, { TXT: [text] });
  const record: DomainRecord = { kind, type: 'TXT', name, value: text, required: true, why: '' };
  return (await checkRecord(dns, record, service)).state;
}

for (const [text, state] of [
  ['v=DMARC1; p=none', 'ok'],
  ['v=DMARC1; p=Reject', 'ok'],
  ['v = DMARC1; p=none', 'ok'],
  ['V=DMARC1; P=none', 'ok'],
  ['v=DMARC1; p=maybe', 'wrong'],
  ['v=DMARC10; p=none', 'missing'],
] as const)
  test(`RFC 7489 6.4: the DMARC record ${text} is ${state}`, async () => {
    assert.equal(await stateOf('dmarc', text), state);
  });

zones.set('flat.test', { TXT: ['v=spf1 ip4:192.0.2.1 include:relay.test -all'] });
zones.set('loop.test', { TXT: ['v=spf1 include:loop.test -all'] });

for (const [text, state] of [
  ['v=spf1 include:relay.test -all', 'ok'],
  ['v=spf1 +include:Relay.test ~all', 'ok'],
  ['v=spf1 include:flat.test -all', 'ok'],
  ['v=spf1 redirect=flat.test', 'ok'],
  ['v=spf1 redirect=relay.test', 'ok'],
  ['v=spf1 +all', 'ok'],
  ['v=spf1 -all include:relay.test', 'wrong'],
  ['v=spf1 ?include:relay.test -all', 'wrong'],
  ['v=spf1 -all redirect=flat.test', 'wrong'],
  ['v=spf1 include:loop.test -all', 'wrong'],
  ['v=spf1 include:%{d}.test -all', 'wrong'],
  ['v=spf1 ip4:192.0.2.1 -all', 'wrong'],
] as const)
  test(`RFC 7208 4.6: the SPF record ${text} is ${state} for a relay that must be included`, async () => {
    assert.equal(await stateOf('spf', text), state);
  });
