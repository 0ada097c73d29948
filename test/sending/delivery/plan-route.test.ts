import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import {
  findMailHosts,
  type MailRoute,
  type MailRouteOptions,
  planRoute,
} from '../../../src/sending/delivery/direct/plan-route.ts';
import { TestDns } from '../../support/test-dns.ts';

const server = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(server.server)]);
/** A short timeout, for names that are never answered. */
const impatientClient = new DnsClient([parseDnsServer(server.server)], {
  timeoutMs: 200,
  rounds: 1,
});
const documentation = ['192.0.2.0/24', '203.0.113.0/24', '2001:db8::/32'];
const options: MailRouteOptions = {
  ownNames: new Set(['mail.sender.test']),
  ownAddresses: new Set(['203.0.113.9']),
  families: [6, 4],
  // Documentation addresses (RFC 5737, RFC 3849).
  networks: new PublicNetworks(documentation),
};

function hopsOf(route: MailRoute): string[] {
  assert.ok(route.kind === 'hops', JSON.stringify(route));
  return route.hops.map((hop) => `${hop.host} ${hop.address}`);
}

server
  .set('a.mx.test', { A: ['192.0.2.1'] })
  .set('b.mx.test', { A: ['192.0.2.2'], AAAA: ['2001:db8::2'] })
  .set('c.mx.test', { A: ['192.0.2.3'] })
  .set('self.mx.test', { A: ['203.0.113.9'] })
  .set('mail.sender.test', { A: ['203.0.113.10'] })
  .set('loop.mx.test', { A: ['127.0.0.1'], AAAA: ['::1'] });

test('RFC 5321 5.1: hosts are tried by preference, each at IPv6 and IPv4', async () => {
  server.set('two.test', {
    MX: [
      [20, 'a.mx.test'],
      [10, 'b.mx.test'],
    ],
  });
  assert.deepEqual(hopsOf(await planRoute(dns, 'two.test', options)), [
    'b.mx.test 2001:db8::2',
    'b.mx.test 192.0.2.2',
    'a.mx.test 192.0.2.1',
  ]);
});

test('RFC 5321 5.1: hosts with equal preference are in random order', async () => {
  server.set('equal.test', {
    MX: [
      [5, 'a.mx.test'],
      [5, 'c.mx.test'],
      [9, 'b.mx.test'],
    ],
  });
  const firstHosts = new Set<string>();
  for (let round = 0; round < 60; round += 1) {
    const found = await findMailHosts(dns, 'equal.test');
    assert.ok(found.kind === 'hosts');
    assert.equal(found.hosts[2]?.name, 'b.mx.test');
    firstHosts.add(found.hosts[0]?.name ?? '');
  }
  assert.deepEqual([...firstHosts].sort(), ['a.mx.test', 'c.mx.test']);
});

test('RFC 5321 5.1: a domain without MX records is its own host', async () => {
  server.set('bare.test', { A: ['192.0.2.7'] });
  assert.deepEqual(hopsOf(await planRoute(dns, 'bare.test', options)), ['bare.test 192.0.2.7']);
});

test('RFC 7505: a null MX is a permanent failure, even if the domain has an address', async () => {
  server.set('null.test', { MX: [[0, '.']], A: ['192.0.2.8'] });
  const route = await planRoute(dns, 'null.test', options);
  assert.deepEqual([route.kind, route.kind === 'refused' && route.enhanced], ['refused', '5.1.10']);
});

test('RFC 7505 3: a null MX beside other records is skipped', async () => {
  server.set('half-null.test', {
    MX: [
      [0, '.'],
      [10, 'a.mx.test'],
    ],
  });
  assert.deepEqual(hopsOf(await planRoute(dns, 'half-null.test', options)), [
    'a.mx.test 192.0.2.1',
  ]);
});

test('a nonexistent domain is a permanent failure; a domain without servers is not', async () => {
  assert.equal((await planRoute(dns, 'nobody.test', options)).kind, 'refused');
  server.set('empty.test', { TXT: ['here'] });
  assert.equal((await planRoute(dns, 'empty.test', options)).kind, 'fault');
});

for (const fault of ['silent', 'servfail', 'refused', 'garbage'] as const) {
  test(`a zone that is ${fault} is a temporary failure that names the resolver`, async () => {
    server.set(`${fault}.test`, { fault });
    const route = await planRoute(impatientClient, `${fault}.test`, options);
    assert.ok(route.kind === 'fault');
    assert.ok(route.text.includes(server.server), route.text);
  });
}

test('a host whose address cannot be resolved is skipped', async () => {
  server.set('gone.mx.test', { fault: 'servfail' });
  server.set('partly.test', {
    MX: [
      [1, 'gone.mx.test'],
      [2, 'a.mx.test'],
    ],
  });
  assert.deepEqual(hopsOf(await planRoute(dns, 'partly.test', options)), ['a.mx.test 192.0.2.1']);
  server.set('wholly.test', { MX: [[1, 'gone.mx.test']] });
  assert.equal((await planRoute(dns, 'wholly.test', options)).kind, 'fault');
});

test('RFC 5321 5.1: hosts less preferred than this service itself are excluded', async () => {
  server.set('backup.test', {
    MX: [
      [5, 'a.mx.test'],
      [10, 'mail.sender.test'],
      [20, 'c.mx.test'],
    ],
  });
  assert.deepEqual(hopsOf(await planRoute(dns, 'backup.test', options)), ['a.mx.test 192.0.2.1']);
  server.set('mine.test', {
    MX: [
      [5, 'self.mx.test'],
      [5, 'a.mx.test'],
    ],
  });
  for (let round = 0; round < 10; round += 1) {
    const route = await planRoute(dns, 'mine.test', options);
    assert.ok(route.kind === 'fault' && route.text.includes('would loop'));
  }
});

test('an MX record cannot direct mail to this machine’s loopback', async () => {
  server.set('inward.test', { MX: [[5, 'loop.mx.test']] });
  assert.equal((await planRoute(dns, 'inward.test', options)).kind, 'fault');
  const open = await planRoute(dns, 'inward.test', {
    ...options,
    networks: new PublicNetworks(['127.0.0.0/8', '::1/128']),
    allowLoopback: true,
  });
  assert.deepEqual(hopsOf(open), ['loop.mx.test ::1', 'loop.mx.test 127.0.0.1']);
});

test('an IP address in place of a host name is invalid', async () => {
  server.set('address.test', {
    MX: [
      [5, '192.0.2.5'],
      [6, 'c.mx.test'],
    ],
  });
  assert.deepEqual(hopsOf(await planRoute(dns, 'address.test', options)), ['c.mx.test 192.0.2.3']);
});

test('only IPv4 is used if this machine has no IPv6', async () => {
  const route = await planRoute(dns, 'two.test', { ...options, families: [4] });
  assert.deepEqual(hopsOf(route), ['b.mx.test 192.0.2.2', 'a.mx.test 192.0.2.1']);
});

test('RFC 5321 4.1.3: an address literal is used directly', async () => {
  assert.deepEqual(hopsOf(await planRoute(dns, '[192.0.2.77]', options)), [
    '[192.0.2.77] 192.0.2.77',
  ]);
  assert.deepEqual(hopsOf(await planRoute(dns, '[IPv6:2001:db8::77]', options)), [
    '[IPv6:2001:db8::77] 2001:db8::77',
  ]);
  assert.equal((await planRoute(dns, '[127.0.0.1]', options)).kind, 'fault');
});
