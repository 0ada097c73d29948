import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsCache, DnsClient } from '../../src/base/dns/dns-client.ts';
import { formatDnsServer, parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { OperatorError } from '../../src/base/values/errors.ts';
import { ProcessClock } from '../support/process-clock.ts';
import { TestDns } from '../support/test-dns.ts';

const dns = await new TestDns().start();
dns
  .set('shop.test', {
    MX: [
      [10, 'MX1.shop.test'],
      [20, 'mx2.shop.test'],
    ],
    TXT: ['v=spf1 -all'],
    ttl: 120,
  })
  .set('mx1.shop.test', { A: ['127.0.0.2', '127.0.0.3'], AAAA: ['::1'] })
  .set('alias.test', { CNAME: 'mx1.shop.test', ttl: 30 })
  .set('long.test', { TXT: Array.from({ length: 10 }, (_, index) => `${index}`.repeat(400)) })
  .set('bytes.test', { TXT: ['v=\0spf1'], MX: [[10, 'm\0x.bytes.test']] })
  .set('silent.test', { fault: 'silent' })
  .set('broken.test', { fault: 'servfail' })
  .set('refused.test', { fault: 'refused' })
  .set('garbage.test', { fault: 'garbage' });

const client = new DnsClient([parseDnsServer(dns.server)], { timeoutMs: 5_000, rounds: 1 });
/** For servers that never answer. */
const hasty = new DnsClient([parseDnsServer(dns.server)], { timeoutMs: 150, rounds: 1 });

test('records include their time to live and the resolver', async () => {
  assert.deepEqual(await client.lookUp('Shop.test', 'MX'), {
    kind: 'found',
    records: [
      { preference: 10, exchange: 'mx1.shop.test' },
      { preference: 20, exchange: 'mx2.shop.test' },
    ],
    ttl: 120,
    server: dns.server,
  });
});

test('bytes that can’t be stored are replaced in records', async () => {
  const [text, hosts] = [
    await client.lookUp('bytes.test', 'TXT'),
    await client.lookUp('bytes.test', 'MX'),
  ];
  assert.deepEqual(text.kind === 'found' && text.records, ['v=\ufffdspf1']);
  assert.deepEqual(hosts.kind === 'found' && hosts.records, [
    { preference: 10, exchange: 'm\ufffdx.bytes.test' },
  ]);
});

test('a CNAME is followed, and the shortest time to live applies', async () => {
  const answer = await client.lookUp('alias.test', 'A');
  assert.equal(answer.kind, 'found');
  assert.deepEqual(answer.kind === 'found' && [answer.records, answer.ttl], [
    ['127.0.0.2', '127.0.0.3'],
    30,
  ]);
});

test('RFC 7766: a truncated answer is retried over TCP', async () => {
  const answer = await client.lookUp('long.test', 'TXT');
  assert.equal(answer.kind === 'found' && answer.records.length, 10);
  assert.equal(answer.kind === 'found' && answer.records[3], '3'.repeat(400));
});

test('RFC 1035 2.3.4: a text that isn’t a domain name isn’t queried', async () => {
  const before = dns.queries.length;
  for (const name of ['', '.', 'a..test', `${'a'.repeat(64)}.test`, `${'ü'.repeat(32)}.test`]) {
    const answer = await client.lookUp(name, 'A');
    assert.deepEqual(answer, { kind: 'fault', text: 'not a domain name', server: '' }, name);
  }
  assert.equal(dns.queries.length, before);
});

test('missing names and missing record types are distinguished', async () => {
  const name = await client.lookUp('nobody.test', 'A');
  assert.deepEqual(name, { kind: 'absent', what: 'name', ttl: 60, server: dns.server });
  const records = await client.lookUp('shop.test', 'AAAA');
  assert.deepEqual(records, { kind: 'absent', what: 'records', ttl: 60, server: dns.server });
});

test('a resolver without a route is a fault', async () => {
  // A link-local address needs a zone.
  const unroutable = new DnsClient([parseDnsServer('fe80::1')], { timeoutMs: 150, rounds: 1 });
  const answer = await unroutable.lookUp('shop.test', 'A');
  assert.ok(answer.kind === 'fault');
  assert.match(answer.text, /EINVAL|EAFNOSUPPORT|ENETUNREACH/);
});

for (const [name, text, asking] of [
  ['silent.test', /in time/, hasty],
  ['garbage.test', /in time/, hasty],
  ['broken.test', /SERVFAIL/, client],
  ['refused.test', /REFUSED/, client],
] as const) {
  test(`${name} is a fault that names the resolver`, async () => {
    const answer = await asking.lookUp(name, 'A');
    assert.ok(answer.kind === 'fault');
    assert.match(answer.text, text);
    assert.equal(answer.server, dns.server);
  });
}

test('an unreachable resolver is a fault, and the next one is queried', async () => {
  const nobody = parseDnsServer('127.0.0.1:1');
  const alone = await new DnsClient([nobody], { rounds: 1, timeoutMs: 500 }).lookUp(
    'shop.test',
    'MX',
  );
  assert.equal(alone.kind, 'fault');
  const both = new DnsClient([nobody, parseDnsServer(dns.server)], { timeoutMs: 500 });
  assert.equal((await both.lookUp('shop.test', 'MX')).kind, 'found');
});

test('the cache queries once per time to live', async () => {
  const clock = new ProcessClock();
  const cache = new DnsCache(client, clock);
  const countQueries = (): number =>
    dns.queries.filter((question) => question === 'TXT shop.test').length;
  const before = countQueries();
  await Promise.all([cache.lookUp('shop.test', 'TXT'), cache.lookUp('SHOP.test', 'TXT')]);
  await cache.lookUp('shop.test', 'TXT');
  assert.equal(countQueries() - before, 1);
  clock.advance(121_000);
  await cache.lookUp('shop.test', 'TXT');
  assert.equal(countQueries() - before, 2);
});

test('faults are cached for seconds only', async () => {
  const clock = new ProcessClock();
  const cache = new DnsCache(client, clock);
  assert.equal((await cache.lookUp('broken.test', 'A')).kind, 'fault');
  dns.set('broken.test', { A: ['127.0.0.9'] });
  assert.equal((await cache.lookUp('broken.test', 'A')).kind, 'fault');
  clock.advance(6_000);
  assert.equal((await cache.lookUp('broken.test', 'A')).kind, 'found');
});

test('resolvers are IP addresses with or without a port', () => {
  for (const text of ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:5353'])
    assert.equal(formatDnsServer(parseDnsServer(text)), text);
  for (const text of ['dns.example', '192.0.2.1:0', '192.0.2.1:99999', ''])
    assert.throws(() => parseDnsServer(text), OperatorError);
});
