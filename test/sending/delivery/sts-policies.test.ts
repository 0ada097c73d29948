import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { after, test } from 'node:test';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { fetchStsPolicy } from '../../../src/sending/delivery/mta-sts/fetch-sts-policy.ts';
import { StsPolicies } from '../../../src/sending/delivery/mta-sts/sts-policies.ts';
import type { StoredStsPolicy } from '../../../src/sending/delivery/mta-sts/sts-policy-store.ts';
import { ProcessClock } from '../../support/process-clock.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { TestDns } from '../../support/test-dns.ts';
import { waitFor } from '../../support/wait-for.ts';

const authority = new TestAuthority();
const certificate = authority.issue(['mta-sts.a.test', 'mta-sts.b.test']);
const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)]);

interface Answer {
  status?: number;
  type?: string;
  text: string;
}
const policyText = 'version: STSv1\nmode: enforce\nmx: mx.a.test\nmax_age: 86400\n';
let answer: Answer = { text: policyText };
let fetches = 0;
const server = createServer(certificate, (_request, response) => {
  fetches += 1;
  response.writeHead(answer.status ?? 200, {
    'content-type': answer.type ?? 'text/plain',
    location: '/.well-known/other.txt',
  });
  response.end(answer.text);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const { port } = server.address() as { port: number };
for (const name of ['mta-sts.a.test', 'mta-sts.b.test', 'mta-sts.c.test'])
  zones.set(name, { A: ['127.0.0.1'] });

const networks = new PublicNetworks(['127.0.0.0/8', '::1/128']);
const options = { port, ca: authority.ca, networks, milliseconds: 20_000 };

test('RFC 8461 3.3: a policy is fetched over HTTPS', async () => {
  answer = { text: policyText };
  const fetched = await fetchStsPolicy(dns, 'a.test', options);
  assert.ok(fetched.kind === 'policy');
  assert.equal(fetched.policy.mode, 'enforce');
});

for (const [what, given, domain, fault] of [
  ['a redirect', { status: 301, text: policyText }, 'a.test', 'sts-policy-fetch-error'],
  ['an answer 404', { status: 404, text: policyText }, 'a.test', 'sts-policy-fetch-error'],
  ['a page', { type: 'text/html', text: policyText }, 'a.test', 'sts-policy-invalid'],
  ['nonsense', { text: 'nonsense' }, 'a.test', 'sts-policy-invalid'],
  ['too much', { text: `${policyText}${'x: y\n'.repeat(20_000)}` }, 'a.test', 'sts-policy-invalid'],
  ['a certificate of another name', { text: policyText }, 'c.test', 'sts-webpki-invalid'],
  ['no address', { text: policyText }, 'd.test', 'sts-policy-fetch-error'],
] as const) {
  test(`RFC 8461 3.3: ${what} is not a policy`, async () => {
    answer = given;
    const fetched = await fetchStsPolicy(dns, domain, options);
    assert.ok(fetched.kind === 'fault');
    assert.equal(fetched.fault, fault);
  });
}

test('RFC 8461 3.3: a policy with an untrusted certificate is ignored', async () => {
  answer = { text: policyText };
  const fetched = await fetchStsPolicy(dns, 'a.test', { port, networks });
  assert.ok(fetched.kind === 'fault' && fetched.fault === 'sts-webpki-invalid');
});

test('a policy host on the loopback is not contacted', async () => {
  const fetched = await fetchStsPolicy(dns, 'a.test', {
    port,
    ca: authority.ca,
    networks: new PublicNetworks([]),
  });
  assert.ok(fetched.kind === 'fault' && fetched.text.includes('inside a private network'));
});

test('RFC 8461 3.3, 5.1: a policy is fetched once, cached, renewed in the background, and applied while the web server is down', async () => {
  const clock = new ProcessClock();
  const kept = new Map<string, StoredStsPolicy>();
  const policies = new StsPolicies({
    dns,
    clock,
    log: createLog('silent'),
    fetch: (domain) => fetchStsPolicy(dns, domain, options),
    store: {
      read: async (domain) => kept.get(domain),
      save: async (policy) => void kept.set(policy.domain, policy),
    },
  });
  answer = { text: policyText };
  zones.set('_mta-sts.a.test', { TXT: ['v=STSv1; id=1;'] });
  fetches = 0;
  const both = await Promise.all([policies.find('a.test'), policies.find('a.test')]);
  assert.deepEqual(
    both.map((finding) => finding.policy?.mode),
    ['enforce', 'enforce'],
  );
  await policies.find('a.test');
  assert.equal(fetches, 1);

  clock.advance(13 * 3_600_000);
  assert.equal((await policies.find('a.test')).policy?.mode, 'enforce');
  await waitFor('the renewal', () => fetches === 2);

  answer = { status: 500, text: '' };
  zones.set('_mta-sts.a.test', { TXT: ['v=STSv1; id=2;'] });
  const whileDown = await policies.find('a.test');
  assert.deepEqual(
    [whileDown.policy?.mode, whileDown.fault],
    ['enforce', 'sts-policy-fetch-error'],
  );
  await policies.find('a.test');
  assert.equal(fetches, 3);

  clock.advance(25 * 3_600_000);
  assert.equal((await policies.find('a.test')).policy, undefined);

  answer = { text: policyText.replace('enforce', 'testing') };
  clock.advance(301_000);
  assert.equal((await policies.find('a.test')).policy?.mode, 'testing');
});

test('a domain without a record has no policy, and none is fetched', async () => {
  fetches = 0;
  const policies = new StsPolicies({
    dns,
    clock: new ProcessClock(),
    log: createLog('silent'),
    fetch: (domain) => fetchStsPolicy(dns, domain, options),
    store: { read: async () => undefined, save: async () => undefined },
  });
  assert.deepEqual(await policies.find('b.test'), { policy: undefined, fault: undefined });
  assert.equal(fetches, 0);
});
