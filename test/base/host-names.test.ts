import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { HostNames } from '../../src/base/dns/host-names.ts';
import { guardedLookup } from '../../src/base/network/guarded-request.ts';
import { PublicNetworks } from '../../src/base/network/public-networks.ts';
import { ProcessClock } from '../support/process-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestDns } from '../support/test-dns.ts';

const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)], { timeoutMs: 500, rounds: 1 });
const clock = new ProcessClock();
const hostsFile = join(temporaryFolder(), 'hosts');
await writeFile(
  hostsFile,
  `# 10.0.0.9 commented.test
10.0.0.1\tGateway.office.test  gateway # the office
fd00::1 gateway
nonsense gateway
10.0.0.1 gateway
`,
);
const resolverFile = join(temporaryFolder(), 'resolv.conf');
await writeFile(
  resolverFile,
  'domain old.test\nsearch jobs.cluster.test. Cluster.test\nnameserver 10.0.0.1\n',
);
const names = new HostNames(dns, clock, { hosts: hostsFile, resolver: resolverFile });

test('a name has the addresses of both families that DNS has for it', async () => {
  zones.set('hook.test', { A: ['8.8.8.8', '8.8.4.4'], AAAA: ['2001:4860:4860::8888'] });
  for (const name of ['hook.test', 'HOOK.test.'])
    assert.deepEqual(await names.lookUp(name), [
      { address: '8.8.8.8', family: 4 },
      { address: '8.8.4.4', family: 4 },
      { address: '2001:4860:4860::8888', family: 6 },
    ]);
});

test('names in the hosts file are not looked up in DNS', async () => {
  zones.set('gateway.office.test', { A: ['8.8.8.8'] });
  const before = zones.queries.length;
  assert.deepEqual(await names.lookUp('gateway'), [
    { address: '10.0.0.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ]);
  assert.deepEqual(await names.lookUp('gateway.Office.test'), [{ address: '10.0.0.1', family: 4 }]);
  assert.equal(zones.queries.length, before);
  await assert.rejects(names.lookUp('commented.test'), /^Error: commented\.test has no address/);
});

test('the hosts file is read again after a minute', async () => {
  const path = join(temporaryFolder(), 'hosts');
  const own = new HostNames(dns, clock, { hosts: path, resolver: path });
  await assert.rejects(own.lookUp('late.test'), /has no address in DNS/);
  await writeFile(path, '10.0.0.2 late.test\n');
  await assert.rejects(own.lookUp('late.test'), /has no address in DNS/);
  clock.advance(60_000);
  assert.deepEqual(await own.lookUp('late.test'), [{ address: '10.0.0.2', family: 4 }]);
});

test('RFC 6761 6.3: localhost and the names below it are the loopback, whatever DNS says', async () => {
  zones.set('localhost', { A: ['8.8.8.8'] });
  const before = zones.queries.length;
  for (const name of ['localhost', 'LOCALHOST.', 'app.localhost'])
    assert.deepEqual(await names.lookUp(name), [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  assert.equal(zones.queries.length, before);
});

test('a name without a dot is completed by the search domains of the machine if DNS doesn’t have it', async () => {
  zones.set('container', { A: ['10.0.0.3'] }).set('service.cluster.test', { A: ['10.0.0.4'] });
  assert.deepEqual(await names.lookUp('container'), [{ address: '10.0.0.3', family: 4 }]);
  assert.deepEqual(await names.lookUp('service'), [{ address: '10.0.0.4', family: 4 }]);
  await assert.rejects(names.lookUp('service.old'), /service\.old has no address in DNS/);
  // The system reads an old notation of addresses, which would need no DNS.
  for (const notation of ['2130706433', '127.1'])
    await assert.rejects(names.lookUp(notation), /has no address in DNS/);
});

test('a failed lookup says why, but not at which resolver', async () => {
  zones.set('silent.test', { fault: 'silent' }).set('broken.test', { fault: 'servfail' });
  await assert.rejects(names.lookUp('silent.test'), {
    message: 'the DNS lookup of silent.test failed: no answer in time',
  });
  await assert.rejects(names.lookUp('broken.test'), {
    message: 'the DNS lookup of broken.test failed: SERVFAIL',
  });
});

test('a request connects to the address that was checked, and to none if one isn’t allowed', async () => {
  const hosts: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const networks = new PublicNetworks(['127.0.0.0/8']);
  const request = (host: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const options = { host, port, agent: false, lookup: guardedLookup(networks, names) };
      get(options, (response) => response.resume().on('end', resolve)).on('error', reject);
    });
  zones
    .set('inside.test', { A: ['127.0.0.1'] })
    .set('mixed.test', { A: ['127.0.0.1', '10.0.0.1'] });
  await request('inside.test');
  await assert.rejects(request('mixed.test'), /the address is inside a private network/);
  await assert.rejects(request('gateway'), /the address is inside a private network/);
  assert.deepEqual(hosts, [`inside.test:${port}`]);
});
