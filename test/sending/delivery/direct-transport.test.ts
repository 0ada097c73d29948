import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { DirectTransport } from '../../../src/sending/delivery/direct/direct-transport.ts';
import { parseSource, SourcePools } from '../../../src/sending/delivery/direct/source-pools.ts';
import {
  type StsFinding,
  StsPolicies,
} from '../../../src/sending/delivery/mta-sts/sts-policies.ts';
import type { StsMode } from '../../../src/sending/delivery/mta-sts/sts-policy.ts';
import type { SlotOutcome } from '../../../src/sending/delivery/shaping/sending-limiter.ts';
import type { Shaper } from '../../../src/sending/delivery/shaping/shaper.ts';
import type { TlsResult } from '../../../src/sending/delivery/tls-report/tls-result-store.ts';
import type { OutgoingMail, TransactionResult } from '../../../src/sending/delivery/transport.ts';
import { ProcessClock } from '../../support/process-clock.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { TestDns } from '../../support/test-dns.ts';
import { TestMx, type TestMxOptions } from '../../support/test-mx.ts';
import { waitFor } from '../../support/wait-for.ts';

const authority = new TestAuthority();
const zones = await new TestDns().start();
const dns = new DnsClient([parseDnsServer(zones.server)]);
const policies = new Map<string, StsFinding>();
const uses: (SlotOutcome & { readonly name: string })[] = [];
const tally: TlsResult[] = [];
const limiter: Pick<Shaper, 'admit'> = {
  admit: async ({ name }) => ({
    connections: maxConnections,
    messagesPerConnection: 100,
    release: (use) => void uses.push({ ...use, name }),
  }),
};

let maxConnections = 20;
let port = 0;
let nextHost = 2;

/** A mail server for a domain, at a separate address. */
async function startHost(
  domain: string,
  options: Partial<TestMxOptions> = {},
  preference = 10,
): Promise<TestMx> {
  const address = `127.0.0.${nextHost}`;
  const host = `mx${nextHost}.hosts-${domain}`;
  nextHost += 1;
  const mx = await new TestMx({ address, port, ...options }).start();
  port = mx.port;
  zones.set(host, { A: [address] });
  const before = zones.zones.get(domain)?.MX ?? [];
  zones.set(domain, { MX: [...before, [preference, host]] });
  return mx;
}

function createTransport(sources: readonly string[] = []): DirectTransport {
  const sourcePools = new SourcePools(sources.map(parseSource), 'mail.sender.test');
  const timeouts = {
    connect: 20_000,
    greeting: 20_000,
    command: 20_000,
    data: 20_000,
    final: 20_000,
  };
  return new DirectTransport({
    dns,
    policies: {
      find: async (domain) => policies.get(domain) ?? { policy: undefined, fault: undefined },
    },
    limiter,
    sources: sourcePools,
    tally: { count: (result) => void tally.push(result) },
    port,
    timeouts,
    ca: authority.ca,
    routes: {
      ownNames: new Set(['mail.sender.test']),
      ownAddresses: new Set(),
      networks: new PublicNetworks(['127.0.0.0/8', '::1/128']),
      allowLoopback: true,
    },
  });
}

async function send(
  domain: string,
  options: { sources?: readonly string[]; local?: string; smtpUtf8?: boolean } = {},
): Promise<TransactionResult> {
  const to = `${options.local ?? 'ann'}@${domain}`;
  const transport = createTransport(options.sources);
  const raw = Buffer.from('Subject: x\r\n\r\nHello\r\n');
  const mail = { from: 'b@shop.test', to, raw, needsSmtpUtf8: options.smtpUtf8 ?? false };
  const result = await sendThrough(transport, mail);
  await transport.close();
  return result;
}

async function sendThrough(
  transport: DirectTransport,
  mail: OutgoingMail,
): Promise<TransactionResult> {
  const admitted = await transport.admit({ to: mail.to, urgent: false });
  assert.ok('send' in admitted);
  return await admitted.send(mail, async () => true, new AbortController().signal);
}

function outcome({ end }: TransactionResult): string {
  if (end.kind === 'reply') return `${end.stage} ${end.reply.code}`;
  if (end.kind === 'fault') return `${end.stage} ${end.fault}`;
  return end.kind;
}

beforeEach(() => {
  uses.length = 0;
  tally.length = 0;
});

test('mail goes to the most preferred host, encrypted even if its certificate is not trusted', async () => {
  const stranger = new TestAuthority().issue(['elsewhere.test']);
  const mx = await startHost('plain.test', { certificate: stranger });
  assert.equal(outcome(await send('plain.test')), 'final 250');
  assert.equal(mx.mails[0]?.encrypted, true);
  assert.equal(mx.mails[0]?.greeting, 'mail.sender.test');
  assert.deepEqual(uses, [{ kind: 'accepted', name: 'hosts-plain.test' }]);
  assert.deepEqual(
    tally.map(({ policyType, type }) => [policyType, type]),
    [['no-policy-found', 'success']],
  );
});

test('a host without STARTTLS gets mail in cleartext', async () => {
  const mx = await startHost('clear.test');
  assert.equal(outcome(await send('clear.test')), 'final 250');
  assert.equal(mx.mails[0]?.encrypted, false);
  assert.equal(tally[0]?.type, 'starttls-not-supported');
});

test('RFC 7435: a host whose STARTTLS fails gets mail in cleartext rather than none', async () => {
  const mx = await startHost('broken-tls.test', { brokenTls: true });
  assert.equal(outcome(await send('broken-tls.test')), 'final 250');
  assert.equal(mx.mails[0]?.encrypted, false);
});

test('RFC 8460 4.3.2: a policy that could not be fetched is counted once per session, not per message', async () => {
  const mx = await startHost('unfetched.test', { certificate: authority.issue(['x.test']) });
  policies.set('unfetched.test', { policy: undefined, fault: 'sts-policy-fetch-error' });
  const transport = createTransport();
  const to = 'ann@unfetched.test';
  const mail = { from: '', to, raw: Buffer.from('\r\nx\r\n'), needsSmtpUtf8: false };
  for (let count = 0; count < 3; count += 1) {
    await sendThrough(transport, mail);
  }
  await transport.close();
  assert.deepEqual([mx.mails.length, mx.connections], [3, 1]);
  assert.deepEqual(tally, [
    { domain: 'unfetched.test', policyType: 'sts', type: 'sts-policy-fetch-error', host: '' },
  ]);
});

test('RFC 8460 4: a session shared by domains counts for the domain whose mail opened it', async () => {
  const mx = await startHost('first.test', { certificate: authority.issue(['x.test']) });
  zones.set('second.test', zones.zones.get('first.test') ?? {});
  const transport = createTransport();
  for (const domain of ['first.test', 'second.test']) {
    const to = `ann@${domain}`;
    const mail = { from: '', to, raw: Buffer.from('\r\nx\r\n'), needsSmtpUtf8: false };
    await sendThrough(transport, mail);
  }
  await transport.close();
  assert.deepEqual([mx.mails.length, mx.connections], [2, 1]);
  assert.deepEqual(
    tally.map(({ domain, type }) => [domain, type]),
    [['first.test', 'success']],
  );
});

test('RFC 5321 5.1: if a host is unreachable, the next one is tried', async () => {
  zones.set('dead.hosts-next.test', { A: ['127.0.0.99'] });
  zones.set('next.test', { MX: [[1, 'dead.hosts-next.test']] });
  const busy = await startHost('next.test', { onConnect: () => '421 4.3.2 Busy' }, 5);
  const mx = await startHost('next.test', {}, 10);
  assert.equal(outcome(await send('next.test')), 'final 250');
  assert.deepEqual([busy.connections > 0, mx.mails.length], [true, 1]);
});

test('a reply about the message ends the search for hosts', async () => {
  await startHost('refusing.test', { onRcpt: () => '550 5.1.1 No such user' }, 5);
  const second = await startHost('refusing.test', {}, 10);
  const result = await send('refusing.test');
  assert.equal(outcome(result), 'rcpt 550');
  assert.equal(second.connections, 0);
});

test('if no host replies, it is a connection failure, and the destination counts as unreachable', async () => {
  zones.set('gone.test', { MX: [[1, 'dead.hosts-gone.test']] });
  zones.set('dead.hosts-gone.test', { A: ['127.0.0.99'] });
  assert.match(outcome(await send('gone.test')), /^connect connection/);
  assert.equal(uses[0]?.kind, 'unreachable');
});

test('a null MX bounces, a broken zone defers, and neither needs a ticket', async () => {
  zones.set('null.test', { MX: [[0, '.']] });
  zones.set('broken.test', { fault: 'servfail' });
  const refused = await send('null.test');
  assert.ok(refused.end.kind === 'unfit' && refused.end.cause === 'no-domain');
  assert.match(refused.end.text, /5\.1\.10/);
  assert.equal(outcome(await send('broken.test')), 'connect name');
  assert.deepEqual(uses, []);
});

test('RFC 6531: a non-ASCII address requires a host that supports it', async () => {
  const modern = await startHost('utf8.test');
  const old = await startHost('ascii.test', { ascii: true });
  const wide = { local: 'jürgen', smtpUtf8: true };
  assert.equal(outcome(await send('utf8.test', wide)), 'final 250');
  assert.equal(outcome(await send('ascii.test', wide)), 'unfit');
  assert.deepEqual([modern.mails.length, old.mails.length], [1, 0]);
});

test('mail is sent from a source address of the pool, with the matching name', async () => {
  const mx = await startHost('sourced.test');
  const sources = [
    '127.0.0.201=one.sender.test',
    '127.0.0.202=two.sender.test',
    'x/127.0.0.203=x.test',
  ];
  for (let round = 0; round < 20; round += 1) await send('sourced.test', { sources });
  const seen = new Set(mx.mails.map(({ peer, greeting }) => `${peer} ${greeting}`));
  assert.deepEqual([...seen].sort(), [
    '127.0.0.201 one.sender.test',
    '127.0.0.202 two.sender.test',
  ]);
});

test('idle connections to hosts of one destination count towards its connection limit', async () => {
  const servers: TestMx[] = [];
  for (let count = 0; count < 4; count += 1) servers.push(await startHost('many.test'));
  maxConnections = 2;
  const transport = createTransport();
  const to = 'ann@many.test';
  const mail = { from: '', to, raw: Buffer.from('\r\nx\r\n'), needsSmtpUtf8: false };
  const open = () => servers.reduce((total, mx) => total + mx.open, 0);
  for (let count = 0; count < 30; count += 1) {
    await sendThrough(transport, mail);
    await waitFor('the surplus connections to close', () => open() <= 2);
  }
  maxConnections = 20;
  await transport.close();
  assert.ok(servers.filter(({ mails }) => mails.length > 0).length > 1);
});

for (const [reply, kind, what] of [
  ['421 4.7.0 Try again later', 'slowed', 'messages'],
  ['450 4.7.1 You are sending too fast', 'slowed', 'messages'],
  ['421 4.7.0 Too many concurrent connections', 'slowed', 'connections'],
  ['450 4.7.1 Greylisted, come back in 300 seconds', 'answered', undefined],
  ['451 4.3.0 Local problem', 'answered', undefined],
  ['550 5.7.1 Go away', 'answered', undefined],
] as const) {
  test(`"${reply}" means ${kind}${what === undefined ? '' : `: fewer ${what}`}`, async () => {
    const domain = `reply-${nextHost}.test`;
    await startHost(domain, { onData: () => reply });
    await send(domain);
    const [use] = uses;
    assert.equal(use?.kind, kind);
    assert.equal(use?.kind === 'slowed' ? use.what : undefined, what);
  });
}

type Certificate = 'trusted' | 'stranger' | 'expired' | 'other-name' | 'none';

/** A host with a kind of certificate, under a policy that does or doesn't name it. */
async function serveUnder(
  mode: StsMode | undefined,
  certificate: Certificate,
  named: boolean,
): Promise<{ domain: string; mx: TestMx }> {
  const domain = `sts${nextHost}.test`;
  const host = `mx${nextHost}.hosts-${domain}`;
  const made = {
    trusted: () => authority.issue([host]),
    stranger: () => new TestAuthority().issue([host]),
    expired: () => authority.issue([host], -1),
    'other-name': () => authority.issue(['other.test']),
    none: () => undefined,
  }[certificate]();
  const mx = await startHost(domain, made === undefined ? {} : { certificate: made });
  if (mode !== undefined) {
    const patterns = [named ? `*.hosts-${domain}` : 'mx.other.test'];
    policies.set(domain, { policy: { mode, mx: patterns, maxAge: 1_000 }, fault: undefined });
  }
  return { domain, mx };
}

for (const [mode, certificate, named, arrives, encrypted, counted] of [
  ['enforce', 'trusted', true, 'final 250', true, 'success'],
  ['enforce', 'stranger', true, 'connect tls', undefined, 'certificate-not-trusted'],
  ['enforce', 'expired', true, 'connect tls', undefined, 'certificate-expired'],
  ['enforce', 'other-name', true, 'connect tls', undefined, 'certificate-host-mismatch'],
  ['enforce', 'none', true, 'connect tls', undefined, 'starttls-not-supported'],
  ['enforce', 'trusted', false, 'connect tls', undefined, 'validation-failure'],
  ['testing', 'trusted', true, 'final 250', true, 'success'],
  ['testing', 'stranger', true, 'final 250', true, 'certificate-not-trusted'],
  ['testing', 'expired', true, 'final 250', true, 'certificate-expired'],
  ['testing', 'other-name', true, 'final 250', true, 'certificate-host-mismatch'],
  ['testing', 'none', true, 'final 250', false, 'starttls-not-supported'],
  ['testing', 'trusted', false, 'final 250', true, 'validation-failure'],
  ['none', 'stranger', true, 'final 250', true, 'success'],
  ['none', 'expired', true, 'final 250', true, 'success'],
  ['none', 'other-name', true, 'final 250', true, 'success'],
  ['none', 'none', true, 'final 250', false, 'starttls-not-supported'],
  ['none', 'trusted', false, 'final 250', true, 'success'],
  [undefined, 'expired', true, 'final 250', true, 'success'],
] as const) {
  const policy = mode === undefined ? 'no policy' : `policy ${mode}`;
  const fits = named ? '' : ', the host not named';
  test(`RFC 8461 5: ${policy}, certificate ${certificate}${fits}: ${arrives}`, async () => {
    const { domain, mx } = await serveUnder(mode, certificate, named);
    assert.equal(outcome(await send(domain)), arrives);
    assert.equal(mx.mails[0]?.encrypted, encrypted);
    // RFC 8460 section 4: a session counts once, even if it is retried in another way.
    const policyType = mode === undefined || mode === 'none' ? 'no-policy-found' : 'sts';
    assert.deepEqual(
      tally.map((result) => [result.type, result.policyType]),
      [[counted, policyType]],
    );
  });
}

test('RFC 8461 3.2, 5: an expired policy does not apply, and a newer one applies at once', async () => {
  const domain = `sts${nextHost}.test`;
  const mx = await startHost(domain, {
    certificate: new TestAuthority().issue([`mx${nextHost}.x`]),
  });
  const clock = new ProcessClock();
  const mode = 'enforce';
  const policy = { mode, mx: [`*.hosts-${domain}`], maxAge: 3_600 } as const;
  const fetchedAt = new Date(clock.now());
  const found = new StsPolicies({
    dns,
    clock,
    log: createLog('silent'),
    fetch: async () => ({ kind: 'policy', policy }),
    store: {
      read: async () => ({ domain, recordId: '1', policy, fetchedAt }),
      save: async () => {},
    },
  });
  const attempt = async (): Promise<string> => {
    policies.set(domain, await found.find(domain));
    return outcome(await send(domain));
  };
  assert.equal(await attempt(), 'connect tls');
  clock.advance(3_601_000);
  assert.equal(await attempt(), 'final 250');
  assert.equal(mx.mails.length, 1);
  zones.set(`_mta-sts.${domain}`, { TXT: ['v=STSv1; id=2;'] });
  assert.equal(await attempt(), 'connect tls');
});
