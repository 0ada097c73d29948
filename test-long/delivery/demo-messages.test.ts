import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { readSendingDomain } from '../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { applyDemo } from '../../src/operating/manifest/apply-demo.ts';
import { getDemoToken } from '../../test/support/demo-token.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import {
  readWithPython,
  requireDkimPass,
  requireNoSpam,
  requireOpenDkimPass,
} from '../support/mail-judges.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpost-demo-messages-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { url: databaseUrl, database } = await createTestDatabase();
await applyDemo({ database, key: testKey, dataDir: folder });
const zones = await new TestDns().start();
const sink = await startSink();
const service = await startTestService({
  databaseUrl,
  environment: {
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
    PUBLIC_URL: 'https://mail.shop.test',
    DNS_SERVERS: zones.server,
  },
});

const account = '1000' as AccountId;
const sendingDomains = new SendingDomains({
  database,
  dns: new DnsClient([parseDnsServer(zones.server)]),
  keys: new DkimKeyStore(testKey),
  service: serviceNames(service.config),
  log: createLog('silent'),
});
await sendingDomains.add(account, 'shop.test', { ed25519: true });
const domain = await readSendingDomain(database.kysely, account, 'shop.test');
assert.ok(domain);
const records = await sendingDomains.records(domain);
for (const { name, type, value } of records) {
  const zone = zones.zones.get(name) ?? {};
  zones.set(name, {
    ...zone,
    ...(type === 'TXT' ? { TXT: [value] } : { MX: [[10, value.slice(3, -1)]] }),
  });
}
await sendingDomains.check(domain);
const keys = records.filter(({ kind }) => kind === 'dkim');
assert.equal(keys.length, 2);

const client = new SendClient(service, await getDemoToken(service.url, folder));

/** The bytes of a demo message as the relay received them. */
async function sendDemo(
  template: string,
  values: Record<string, unknown>,
  tracked: boolean,
): Promise<{ raw: Buffer }> {
  const response = await client.send({
    account,
    template,
    body: {
      envelope: { toAddress: 'ada@example.com' },
      content: { personalizationDataMap: values },
      metadata: { transactional: true },
      actions: { trackOpens: tracked, trackClicks: tracked },
    },
  });
  assert.equal(response.status, 200, response.text);
  const id = String(response.body.messageId);
  const mail = await waitFor('the message', () =>
    sink.mails.find(({ source }) => source.includes(`Message-ID: <${id}@`)),
  );
  return { raw: Buffer.from(mail.source) };
}

const demos = [
  {
    name: 'receipt',
    ...(await sendDemo(
      'receipt',
      {
        'First Name': 'Ada',
        'Order Number': 'A-1001',
        Items: [{ Name: 'Espresso beans 1 kg', Price: '24.90' }],
        Total: '33.30',
        'Delivery Address': 'Ada Lovelace\n12 St James’s Square\nLondon',
      },
      true,
    )),
  },
  {
    name: 'password reset',
    ...(await sendDemo(
      'password-reset',
      { 'First Name': 'Ada', 'Reset Link': 'https://shop.test/reset/7hJk2mQx' },
      false,
    )),
  },
];

for (const { name, raw } of demos) {
  test(`the demo's ${name} has valid signatures according to mailauth`, () =>
    requireDkimPass(raw, keys));

  test(`… and according to OpenDKIM`, () => requireOpenDkimPass(raw, keys));

  test(`… and a SpamAssassin content score of 0 or less`, () => requireNoSpam(raw));

  test(`… and MIME without defects according to the service’s own reader and Python’s strict policy`, async () => {
    const parsed = readSentMail(raw);
    // Images of the template are part of its HTML.
    assert.ok(parsed.files.every(({ contentId }) => contentId !== undefined));
    assert.ok(parsed.html !== undefined && parsed.text !== undefined);
    const read = readWithPython(raw);
    const plain = (text: string) => text.replace(/\r?\n/g, '\n').trimEnd();
    assert.equal(read.subject, parsed.subject);
    assert.equal(plain(read.text), plain(parsed.text));
    assert.equal(plain(read.html), plain(parsed.html));
  });
}
