import assert from 'node:assert/strict';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { fetchFromProvider } from '../../src/accounts/sign-in/single-sign-on/provider-fetch.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { HostNames } from '../../src/base/dns/host-names.ts';
import { PublicNetworks } from '../../src/base/network/public-networks.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { fetchText } from '../../src/outcomes/relay/fetch-text.ts';
import { isSnsAddress, SnsSignatures } from '../../src/outcomes/relay/sns-signature.ts';
import { postWebhook } from '../../src/outcomes/webhook/post-webhook.ts';
import { type MailRouteOptions, planRoute } from '../../src/sending/delivery/direct/plan-route.ts';
import { fetchStsPolicy } from '../../src/sending/delivery/mta-sts/fetch-sts-policy.ts';
import { DirectShop } from '../support/direct-shop.ts';
import { TestAuthority } from '../support/test-certificates.ts';
import { waitFor } from '../support/wait-for.ts';

const direct = await DirectShop.open('127.0.0.87=mail.sender.test', {
  address: '127.0.0.88',
  port: 0,
});
const { zones } = direct;
const dns = new DnsClient([parseDnsServer(zones.server)]);
const hostNames = new HostNames(dns, systemClock);
const strict = new PublicNetworks([]);
const loopback = new PublicNetworks(['127.0.0.0/8', '::1/128']);
const options: MailRouteOptions = {
  ownNames: new Set(),
  ownAddresses: new Set(),
  families: [6, 4],
  networks: strict,
};

const inside = [
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '0:0:0:0:0:ffff:a00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:a00:1::1',
  '2001:0:a00:1::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

for (const address of inside)
  test(`ASVS 4.0.3 12.6.1: an MX host at ${address} gets no mail, and the reason does not reveal the address`, async () => {
    const type = address.includes(':') ? 'AAAA' : 'A';
    zones.set('mx.inside.test', { [type]: [address] });
    zones.set('inside.test', { MX: [[10, 'mx.inside.test']] });
    const literal = type === 'A' ? `[${address}]` : `[IPv6:${address}]`;
    for (const domain of ['inside.test', 'mx.inside.test', literal]) {
      const route = await planRoute(dns, domain, options);
      assert.equal(route.kind, 'fault', JSON.stringify(route));
      assert.match(route.text, /is inside a private network/);
      if (domain !== literal) assert.equal(route.text.includes(address), false);
    }
  });

test('ASVS 4.0.3 12.6.1: only the public hosts and addresses of a domain are tried', async () => {
  zones.set('mx.mixed.test', { A: ['10.0.0.1', '8.8.8.8'], AAAA: ['::1', '64:ff9b::808:808'] });
  zones.set('mixed.test', {
    MX: [
      [5, 'mx.inside.test'],
      [10, 'mx.mixed.test'],
    ],
  });
  const route = await planRoute(dns, 'mixed.test', options);
  assert.ok(route.kind === 'hops', JSON.stringify(route));
  assert.deepEqual(
    route.hops.map(({ address }) => address),
    ['64:ff9b::808:808', '8.8.8.8'],
  );
});

test('mail is delivered to private networks the operator allows', async () => {
  zones.set('mx.office.test', { A: ['10.1.2.3'] });
  zones.set('office.test', { MX: [[10, 'mx.office.test']] });
  const allowed = { ...options, networks: new PublicNetworks(['10.1.0.0/16']) };
  assert.equal((await planRoute(dns, 'office.test', allowed)).kind, 'hops');
  assert.equal((await planRoute(dns, '[10.2.0.1]', allowed)).kind, 'fault');
});

test('ASVS 4.0.3 12.6.1: a message to a domain with a private MX is deferred with the reason', async () => {
  zones.set('mx.victim.test', { A: ['10.255.255.1'] });
  zones.set('victim.test', { MX: [[10, 'mx.victim.test']] });
  const id = await direct.send('ann@victim.test');
  const reason = await waitFor('the reason', async () => (await direct.reasonOf(id)) || undefined);
  assert.match(reason, /mx\.victim\.test is inside a private network.*DELIVERY_NETWORKS/);
});

test('ASVS 4.0.3 12.6.1: an MTA-STS policy host in a private network is not contacted', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const address of inside) {
    zones.set('mta-sts.inside.test', { [address.includes(':') ? 'AAAA' : 'A']: [address] });
    const fetched = await fetchStsPolicy(dns, 'inside.test', { port, networks: strict });
    assert.ok(fetched.kind === 'fault', address);
    assert.equal(fetched.text, 'mta-sts.inside.test is inside a private network');
  }
  assert.equal(connections, 0);
});

test('ASVS 4.0.3 12.6.1: a name is resolved once, so it cannot change between check and connection', async () => {
  zones.set('mta-sts.rebound.test', { A: ['8.8.8.8'], ttl: 0 });
  const before = zones.queries.length;
  await fetchStsPolicy(dns, 'rebound.test', { networks: strict, timeoutMs: 50 });
  const requested = zones.queries.slice(before);
  assert.deepEqual(requested.toSorted(), ['A mta-sts.rebound.test', 'AAAA mta-sts.rebound.test']);
});

test('ASVS 4.0.3 5.2.6: certificates come only from SNS itself', () => {
  for (const region of ['us-east-1', 'eu-central-2', 'us-gov-west-1', 'ap-southeast-5'])
    assert.equal(isSnsAddress(`https://sns.${region}.amazonaws.com/a.pem`), true, region);
  assert.equal(isSnsAddress('https://sns.cn-north-1.amazonaws.com.cn/a.pem'), true);
  for (const host of [
    'sns.s3-us-west-2.amazonaws.com',
    'sns.s3.amazonaws.com',
    'sns.s3-website-us-east-1.amazonaws.com',
    'sns.s3-accelerate.amazonaws.com',
    'sns.elasticbeanstalk.amazonaws.com',
    'sns.us-east-1.amazonaws.com.cn',
    'sns.cn-north-1.amazonaws.com',
    'sns.us-east-1.s3.amazonaws.com',
    'evil.sns.us-east-1.amazonaws.com',
    'sns.us-east-1.amazonaws.com.',
    'sns.us-east-1-evil.amazonaws.com',
  ])
    assert.equal(isSnsAddress(`https://${host}/a.pem`), false, host);
});

test('ASVS 4.0.3 5.2.6: certificate URLs use https and a plain path, without credentials', async () => {
  const requested: string[] = [];
  const signatures = new SnsSignatures(async (url) => {
    requested.push(url);
    throw new Error('not fetched');
  });
  const origin = 'sns.us-east-1.amazonaws.com';
  for (const address of [
    `http://${origin}/a.pem`,
    `https://${origin}:444/a.pem`,
    `https://me:secret@${origin}/a.pem`,
    `https://${origin}/a.pem?x=.pem`,
    `https://${origin}/a.pem/b`,
    `https://${origin}/bucket/object.pem`,
    `https://${origin}/a%2fb.pem`,
    `https://${origin}/a`,
    'https://sns.s3-us-west-2.amazonaws.com/bucket/a.pem',
  ])
    assert.equal(await signatures.isSigned({ SigningCertURL: address }), false, address);
  assert.deepEqual(requested, []);
  const right = `https://${origin}/SimpleNotificationService-9c6465fa7f59f5cacd23014631ec1136.pem`;
  await assert.rejects(signatures.isSigned({ SigningCertURL: right }), /not fetched/);
});

test('ASVS 4.0.3 12.6.1: a certificate is fetched only from the public internet, without redirects and within size and time limits', async () => {
  const authority = new TestAuthority();
  const paths: string[] = [];
  const server = createHttpsServer(authority.issue(['localhost']), (request, response) => {
    paths.push(request.url ?? '');
    if (request.url === '/redirect') {
      response.writeHead(302, { location: '/secret' }).end();
    } else if (request.url === '/large') {
      const more = (): boolean => response.write('x'.repeat(65_536));
      response.on('drain', more);
      more();
    } else if (request.url === '/slow') {
      response.write('x');
    } else {
      response.end('text');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const trusted = { port, ca: authority.ca, networks: loopback };
  await assert.rejects(
    fetchText('https://localhost/a', hostNames, { port, ca: authority.ca }),
    /inside a private network/,
  );
  assert.equal(paths.length, 0);
  assert.equal(await fetchText('https://localhost/a', hostNames, trusted), 'text');
  await assert.rejects(fetchText('https://localhost/redirect', hostNames, trusted), /returned 302/);
  await assert.rejects(
    fetchText('https://localhost/large', hostNames, trusted),
    /more than 100 kB/,
  );
  await assert.rejects(
    fetchText('https://localhost/slow', hostNames, { ...trusted, timeoutMs: 2_000 }),
    {
      name: 'AbortError',
    },
  );
  assert.deepEqual(paths, ['/a', '/redirect', '/large', '/slow']);
  server.closeAllConnections();
});

test('RFC 9110 section 15.2.2: a server that switches protocols without being asked ends the request', {
  timeout: 30_000,
}, async () => {
  const authority = new TestAuthority();
  const sockets: Socket[] = [];
  const switchProtocols = (socket: Socket): void => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
      ),
    );
  };
  const plain = createServer(switchProtocols).listen(0, '127.0.0.1');
  const names = ['localhost', 'mta-sts.switch.test'];
  const secure = createTlsServer(authority.issue(names), switchProtocols).listen(0, 'localhost');
  after(() => {
    plain.close();
    secure.close();
    for (const socket of sockets) socket.destroy();
  });
  await waitFor('the ports', () => plain.listening && secure.listening);
  const { port } = secure.address() as AddressInfo;
  const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`;
  const trusted = { port, ca: authority.ca, networks: loopback };
  const expected = /the server switched protocols/;

  const { status, text } = await postWebhook(url, {}, '{}', loopback, hostNames);
  assert.equal(status, 0);
  assert.match(text, expected);
  const request = { method: 'GET', headers: {}, body: undefined } as const;
  await assert.rejects(fetchFromProvider(url, request, loopback, hostNames), expected);
  await assert.rejects(fetchText('https://localhost/a', hostNames, trusted), expected);
  zones.set('mta-sts.switch.test', { A: ['127.0.0.1'] });
  const fetched = await fetchStsPolicy(dns, 'switch.test', trusted);
  assert.ok(fetched.kind === 'fault');
  assert.match(fetched.text, expected);
  await waitFor('closed connections', () => sockets.every(({ destroyed }) => destroyed));
});
