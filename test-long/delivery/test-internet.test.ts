import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { authenticate } from 'mailauth';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { readSendingDomain } from '../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { createLog } from '../../src/base/values/log.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { TestMx } from '../../test/support/test-mx.ts';
import { readTestResolver } from '../../test/support/test-resolver.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { type Postfix, startPostfix } from '../../test-system/support/start-postfix.ts';
import { OpenDkim } from '../support/start-opendkim.ts';
import { Rspamd } from '../support/start-rspamd.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const zones = await new TestDns().start();
const authority = new TestAuthority();
// It picks a free port, which all other servers use too, each at a separate address.
const busy = await new TestMx({
  address: '127.0.0.20',
  port: 0,
  onConnect: () => '421 4.3.2 Busy',
}).start();
const { port } = busy;

const milter = new OpenDkim(await freePort());

/** Responds to Postfix's policy requests: the first attempt to a recipient is deferred. */
async function startGreylist(): Promise<number> {
  const seen = new Set<string>();
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (!text.endsWith('\n\n')) return;
      const recipient = /^recipient=(.*)$/m.exec(text)?.[1] ?? '';
      text = '';
      const known = seen.has(recipient);
      seen.add(recipient);
      socket.write(
        `action=${known ? 'dunno' : 'defer_if_permit 4.2.0 Greylisted, come back in 5 seconds'}\n\n`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return (server.address() as { port: number }).port;
}

const service = await startTestService({
  databaseUrl,
  environment: {
    DELIVERY: 'direct',
    SMTP_HOSTNAME: 'mail.sender.test',
    DNS_SERVERS: zones.server,
    DIRECT_PORT: String(port),
    DIRECT_LOOPBACK: '1',
    DIRECT_SOURCES: '127.0.0.77=mail.sender.test',
  },
});
const postfixes = new Map<string, Postfix>();

async function startReceiver(
  domain: string,
  place: number,
  settings: readonly string[],
): Promise<void> {
  const address = `127.0.0.${place}`;
  const host = `mx.${domain}`;
  zones.set(host, { A: [address] }).set(domain, { MX: [[10, host]] });
  const certificate = authority.issue([host]);
  postfixes.set(domain, await startPostfix({ address, port, domain, certificate, settings }));
}

const shop = await openShop(database);
const client = new SendClient(service, await getToken(service, shop));
const keys = new DkimKeyStore(testKey);
const sendingDomains = new SendingDomains({
  database,
  dns: new DnsClient([parseDnsServer(zones.server)]),
  keys,
  service: serviceNames(service.config),
  log: createLog('silent'),
});
await sendingDomains.add(shop.id, 'shop.test', { ed25519: true });
const domain = await readSendingDomain(database.kysely, shop.id, 'shop.test');
assert.ok(domain);
const records = await sendingDomains.records(domain);
for (const { name, type, value } of records) {
  const zone = zones.zones.get(name) ?? {};
  zones.set(
    name,
    type === 'TXT' ? { ...zone, TXT: [value] } : { ...zone, MX: [[10, value.slice(3, -1)]] },
  );
}
assert.equal((await sendingDomains.check(domain))?.state, 'verified');
await milter.start(
  records.filter(({ kind }) => kind === 'dkim').map(({ name, value }) => [name, value]),
);
const verify = [
  `smtpd_milters = inet:127.0.0.1:${milter.port}`,
  'milter_default_action = tempfail',
];
const rspamd = new Rspamd(await freePort());
await rspamd.start(zones.server);
const greylist = await startGreylist();
await startReceiver('plain.test', 51, verify);
await startReceiver('grey.test', 52, [
  `smtpd_recipient_restrictions = check_policy_service inet:127.0.0.1:${greylist}`,
]);
await startReceiver('limited.test', 53, [
  'smtpd_client_message_rate_limit = 5',
  'anvil_rate_time_unit = 10s',
]);

async function send(toAddress: string): Promise<string> {
  const response = await client.send({ body: bodyWith({ envelope: { toAddress } }) });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

async function reasonOf(id: string): Promise<string> {
  const { rows } = await database.pool.query<{ reason: string | null }>(
    'select reason from queued_delivery where message_id = $1',
    [id],
  );
  return rows[0]?.reason ?? '';
}

async function waitForState(id: string, state: string): Promise<void> {
  let reason = '';
  const reached = waitFor(`the message to be ${state}`, async () => {
    const actual = (await client.status(id)).body.state;
    reason = `${actual}: ${await reasonOf(id)}`;
    return actual === state;
  });
  await reached.catch((error: unknown) => assert.fail(`${error}; it is ${reason}`));
}

async function waitForMail(domain: string, count: number): Promise<string[]> {
  return waitFor(`mail at ${domain}`, async () => {
    const mails = (await postfixes.get(domain)?.mails()) ?? [];
    return mails.length >= count ? mails : undefined;
  });
}

/** Makes all waiting messages due now. */
async function makeDue(): Promise<void> {
  await database.pool.query(
    'update queued_delivery set due_at = now() where lease_owner is null and due_at > now()',
  );
}

test('Postfix accepts mail over TLS, and OpenDKIM behind it verifies both signatures', async () => {
  await waitForState(await send('ann@plain.test'), 'delivered');
  const [mail = ''] = await waitForMail('plain.test', 1);
  assert.match(mail, /using TLSv1\.3/);
  assert.match(mail, /^Return-Path: <b-[a-z2-7]+@bounces\.shop\.test>/im);
  const results =
    /^Authentication-Results: receiver\.test;[\s\S]*?(?=^\S)/im.exec(mail.slice(1))?.[0] ?? '';
  assert.match(results, /dkim=pass[^;]*header\.d=shop\.test/);
  assert.doesNotMatch(results, /dkim=(fail|permerror|neutral)/);
});

/** The SPF, DKIM and DMARC results of rspamd for a message. */
async function checkAuthentication(source: string, ip = '127.0.0.77'): Promise<string[]> {
  const from = /^Return-Path: <(.+)>/im.exec(source)?.[1] ?? '';
  const arrival = { ip, helo: 'mail.sender.test', from, rcpt: 'ann@plain.test' };
  const symbols = await rspamd.check(source, arrival);
  return [...symbols]
    .filter((name) => /^(R_SPF|R_DKIM|DMARC)_(?!.*WITH_FAILURES)/.test(name))
    .sort();
}

test('rspamd and mailauth pass SPF, DKIM with both keys, and DMARC, and detect each failure', async () => {
  const [mail = ''] = await waitForMail('plain.test', 1);
  assert.deepEqual(await checkAuthentication(mail), [
    'DMARC_POLICY_ALLOW',
    'R_DKIM_ALLOW',
    'R_SPF_ALLOW',
  ]);
  assert.deepEqual(await checkAuthentication(mail, '127.0.0.78'), [
    'DMARC_POLICY_ALLOW',
    'R_DKIM_ALLOW',
    'R_SPF_FAIL',
  ]);
  const changed = mail.replace(/\nSubject: /i, '\nSubject: changed ');
  assert.deepEqual(await checkAuthentication(changed), [
    'DMARC_POLICY_ALLOW',
    'R_DKIM_REJECT',
    'R_SPF_ALLOW',
  ]);
  const forged = await checkAuthentication(changed, '127.0.0.78');
  assert.ok(!forged.includes('DMARC_POLICY_ALLOW') && forged.some((name) => /^DMARC/.test(name)));

  const { dkim, spf, dmarc } = await authenticate(Buffer.from(mail, 'latin1'), {
    ip: '127.0.0.77',
    helo: 'mail.sender.test',
    sender: /^Return-Path: <(.+)>/im.exec(mail)?.[1] ?? '',
    mta: 'mx.plain.test',
    resolver: readTestResolver(zones),
  });
  assert.deepEqual(
    dkim.results.map(({ status }) => [status.result, status.aligned]),
    [
      ['pass', 'shop.test'],
      ['pass', 'shop.test'],
    ],
  );
  assert.equal((spf || undefined)?.status.result, 'pass');
  assert.equal((dmarc || undefined)?.status.result, 'pass');
});

test('Postfix accepts a non-ASCII address over SMTPUTF8', async () => {
  await waitForState(await send('jürgen@plain.test'), 'delivered');
  await waitForMail('plain.test', 2);
});

test('a greylisting Postfix accepts the same message on the second attempt', async () => {
  const id = await send('ann@grey.test');
  await waitForState(id, 'deferred');
  await makeDue();
  await waitForState(id, 'delivered');
  await waitForMail('grey.test', 1);
});

test('a Postfix with a message rate limit throttles its destination, and every message arrives', async () => {
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, place) => send(`r${place}@limited.test`)),
  );
  const slowed = await waitFor('the destination to be throttled', async () => {
    const { rows } = await database.pool.query<{ slowed_reason: string | null }>(
      "select slowed_reason from destination where name = 'limited.test'",
    );
    return rows[0]?.slowed_reason ?? undefined;
  });
  assert.match(slowed, /4\.7\.1/);
  await waitFor(
    'all mails',
    async () => {
      await makeDue();
      return ((await postfixes.get('limited.test')?.mails()) ?? []).length === ids.length;
    },
    60_000,
  );
});

test('mail to a busy host, a broken zone or a slow zone is deferred with the reason', async () => {
  zones
    .set('busy.test', { MX: [[10, 'mx.busy.test']] })
    .set('mx.busy.test', { A: ['127.0.0.20'] })
    .set('broken.test', { fault: 'servfail' })
    .set('slow.test', { fault: 'silent' });
  for (const [domain, reason] of [
    ['busy.test', /421 4\.3\.2 Busy/],
    ['broken.test', /SERVFAIL/],
    ['slow.test', /no answer in time/],
  ] as const) {
    const id = await send(`ann@${domain}`);
    await waitForState(id, 'deferred');
    assert.match(await reasonOf(id), reason);
  }
});
