import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { authenticate } from 'mailauth';
import { DkimKeyStore } from '../../../src/accounts/sender/dkim-key-store.ts';
import {
  changeSendingDomain,
  readSendingDomain,
} from '../../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { accountTagOf } from '../../../src/content/message/account-tag.ts';
import { ReturnPaths } from '../../../src/sending/delivery/return-path.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { metricsHeaders } from '../../support/service-tokens.ts';
import {
  addSender,
  getToken,
  openShop,
  publishShopTemplate,
  type Shop,
} from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { TestDns } from '../../support/test-dns.ts';
import { TestMx } from '../../support/test-mx.ts';
import { readTestResolver } from '../../support/test-resolver.ts';
import { startTestService, testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const zones = await new TestDns().start();
const mx = await new TestMx({ address: '127.0.0.2', port: 0 }).start();
zones
  .set('mail.sender.test', { A: ['127.0.0.77'] })
  .set('home.test', { MX: [[10, 'mx.home.test']] })
  .set('away.test', { MX: [[10, 'mx.home.test']] })
  .set('null.test', { MX: [[0, '.']] })
  .set('mx.home.test', { A: ['127.0.0.2'] });

const service = await startTestService({
  databaseUrl,
  environment: {
    DELIVERY: 'direct',
    SMTP_HOSTNAME: 'mail.sender.test',
    DNS_SERVERS: zones.server,
    DIRECT_PORT: String(mx.port),
    DIRECT_LOOPBACK: '1',
    DIRECT_SOURCES: '127.0.0.77=mail.sender.test',
  },
});
const sendingDomains = new SendingDomains({
  database,
  dns: new DnsClient([parseDnsServer(zones.server)]),
  keys: new DkimKeyStore(testKey),
  service: serviceNames(service.config),
  log: createLog('silent'),
});

let shop: Shop;
let client: SendClient;
before(async () => {
  shop = await openShop(database);
  client = new SendClient(service, await getToken(service, shop));
});

async function setUp(domain: string): Promise<void> {
  await sendingDomains.add(shop.id, domain, { ed25519: true });
  const added = await readSendingDomain(database.kysely, shop.id, domain);
  assert.ok(added);
  for (const { name, type, value } of await sendingDomains.records(added)) {
    const zone = zones.zones.get(name) ?? {};
    if (type === 'TXT') zones.set(name, { ...zone, TXT: [value] });
    if (type === 'MX') zones.set(name, { ...zone, MX: [[10, value.slice(3, -1)]] });
  }
  assert.equal((await sendingDomains.check(added))?.state, 'verified');
}

async function send(
  envelope: Readonly<Record<string, unknown>>,
  template = 't-0001',
): Promise<MessageId> {
  return (await client.accept({ template, body: bodyWith({ envelope }) })) as MessageId;
}

async function state(id: MessageId): Promise<string> {
  return String((await client.status(id)).body.state);
}

async function reasonOf(id: MessageId): Promise<string> {
  const { rows } = await database.pool.query<{ reason: string | null }>(
    'select reason from queued_delivery where message_id = $1',
    [id],
  );
  return rows[0]?.reason ?? '';
}

test('mail from a domain that is not set up waits with the reason and uses no attempt', async () => {
  const id = await send({ toAddress: 'ann@home.test' });
  await waitFor('the reason', async () => /isn’t a sending domain/.test(await reasonOf(id)));
  const { rows } = await database.pool.query(
    'select attempts from queued_delivery where message_id = $1',
    [id],
  );
  assert.equal(rows[0]?.attempts, 0);
  assert.equal(mx.mails.length, 0);
  await setUp('shop.test');
  await database.pool.query('update queued_delivery set due_at = now()');
  await waitFor('delivery', async () => (await state(id)) === 'delivered');
});

test('mail passes DKIM with both keys, SPF and DMARC at the receiver', async () => {
  mx.mails.length = 0;
  await send({ toAddress: 'ann@home.test' });
  const mail = await waitFor('the mail', () => mx.mails[0]);
  const result = await authenticate(Buffer.from(mail.source, 'latin1'), {
    ip: mail.peer,
    helo: mail.greeting,
    sender: mail.from,
    mta: 'mx.home.test',
    resolver: readTestResolver(zones),
  });
  assert.deepEqual(
    result.dkim.results.map(({ status, signingDomain }) => [
      status.result,
      status.aligned,
      signingDomain,
    ]),
    [
      ['pass', 'shop.test', 'shop.test'],
      ['pass', 'shop.test', 'shop.test'],
    ],
  );
  assert.equal((result.spf || undefined)?.status.result, 'pass');
  assert.equal((result.dmarc || undefined)?.status.result, 'pass');
  assert.equal(mail.greeting, 'mail.sender.test');
});

test('the return path identifies message and recipient and belongs to the sending domain', async () => {
  mx.mails.length = 0;
  const id = await send({
    toAddress: 'ann@home.test',
    ccAddressList: ['bob@away.test', 'cy@home.test'],
  });
  await waitFor('the mails', () => mx.mails.length === 3);
  const paths = new ReturnPaths(testKey);
  const accountTag = accountTagOf(shop.id);
  const seen = mx.mails.map(({ from, to }) => [from.split('@')[1], to[0], paths.read(from)]);
  assert.deepEqual(
    seen.sort((one, other) => String(one[1]).localeCompare(String(other[1]))),
    [
      ['bounces.shop.test', 'ann@home.test', { messageId: id, recipient: 0, accountTag }],
      ['bounces.shop.test', 'bob@away.test', { messageId: id, recipient: 1, accountTag }],
      ['bounces.shop.test', 'cy@home.test', { messageId: id, recipient: 2, accountTag }],
    ],
  );
  assert.equal(new Set(mx.mails.map(({ source }) => source)).size, 1);
});

test('RFC 5321 5.1: a nonexistent domain bounces at once; a domain whose lookup fails is deferred', async () => {
  const id = await send({ toAddress: 'ann@no-such-domain.test' });
  await waitFor('the bounce', async () => (await state(id)) === 'bounced');
  const { body } = await client.status(id);
  assert.match(
    JSON.stringify(body.events),
    /5\.1\.2 the domain no-such-domain\.test doesn.t exist/,
  );
  zones.set('broken.test', { fault: 'servfail' });
  const waiting = await send({ toAddress: 'ann@broken.test' });
  await waitFor('the wait', async () => (await state(waiting)) === 'deferred');
  assert.match(await reasonOf(waiting), /SERVFAIL/);
});

test('RFC 7505: a domain that accepts no mail bounces at once', async () => {
  const id = await send({ toAddress: 'ann@null.test' });
  await waitFor('the bounce', async () => (await state(id)) === 'bounced');
});

test('the metrics count outcomes by receivers that are known, and all others together', async () => {
  zones
    .set('mail.test', { MX: [[10, 'mx.l.google.com']] })
    .set('mx.l.google.com', { A: ['127.0.0.2'] });
  const id = await send({ toAddress: 'ann@mail.test' });
  await waitFor('delivery', async () => (await state(id)) === 'delivered');
  const { text } = await sendRequest(`${service.url}/metrics`, { headers: metricsHeaders });
  assert.match(text, /_outcomes_total\{outcome="delivered",receiver="google"\} 1$/m);
  assert.match(text, /_outcomes_total\{outcome="delivered",receiver="other"\} [1-9]/m);
  assert.doesNotMatch(text, /receiver="home\.test"/);
});

test('a domain in warm-up sends its daily share, and the rest waits with the reason', async () => {
  await setUp('young.test');
  await addSender(database, shop.id, 'hi@young.test', { displayNames: ['Young'] });
  await publishShopTemplate(database, shop, { id: 't-young', sender: 'hi@young.test' });
  const from = new Date().toISOString().slice(0, 10);
  await changeSendingDomain(database.kysely, shop.id, 'young.test', {
    warmUp: { from, plan: [2, 2] },
  });
  mx.mails.length = 0;
  const ids: MessageId[] = [];
  for (let count = 0; count < 4; count += 1) {
    ids.push(await send({ toAddress: `w${count}@home.test` }, 't-young'));
    await waitFor('an outcome or a wait', async () => {
      const id = ids[count];
      return id !== undefined && ((await state(id)) === 'delivered' || (await reasonOf(id)) !== '');
    });
  }
  assert.equal(mx.mails.length, 2);
  assert.match(await reasonOf(ids[3] as MessageId), /warming up/);
});

test('a domain with broken records sends nothing unsigned', async () => {
  await database.pool.query(
    "update sending_domain set state = 'broken' where domain = 'shop.test'",
  );
  await database.pool.query("select pg_notify('signalpost_change', 'sending-domain:*')");
  const id = await waitFor('a message that waits', async () => {
    const next = await send({ toAddress: 'ann@home.test' });
    await waitFor(
      'an outcome or a wait',
      async () => (await state(next)) === 'delivered' || (await reasonOf(next)) !== '',
    );
    return (await reasonOf(next)) === '' ? undefined : next;
  });
  assert.match(await reasonOf(id), /have been wrong since/);
});
