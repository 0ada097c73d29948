import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { readSendingDomain } from '../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { createLog } from '../../src/base/values/log.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop, publishShopTemplate } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import {
  readWithPython,
  requireDkimPass,
  requireNoSpam,
  requireOpenDkimPass,
  unpackFiles,
} from '../support/mail-judges.ts';
import { Rspamd } from '../support/start-rspamd.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const zones = await new TestDns().start();
const sink = await startSink();
const shop = await openShop(database);
const service = await startTestService({
  databaseUrl,
  environment: {
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
    PUBLIC_URL: 'https://mail.shop.test',
    DNS_SERVERS: zones.server,
  },
});
const client = new SendClient(service, await getToken(service, shop));
const sendingDomains = new SendingDomains({
  database,
  dns: new DnsClient([parseDnsServer(zones.server)]),
  keys: new DkimKeyStore(testKey),
  service: serviceNames(service.config),
  log: createLog('silent'),
});
await sendingDomains.add(shop.id, 'shop.test', { ed25519: true });
const domain = await readSendingDomain(database.kysely, shop.id, 'shop.test');
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
const rspamd = new Rspamd(await freePort());
await rspamd.start(zones.server);
/** As much text as an ordinary letter has: pictures with little text look like spam. */
const letter = Array.from(
  { length: 9 },
  (
    _,
    week,
  ) => `<p>Week ${week + 1}: we roast on Mondays, in small batches, and write the date on each bag. Keep the beans in a
    dark and dry place, grind them just before you make coffee, and use them within two months. If a bag was damaged on its
    way, send us a photo and we will replace it. Our shop in the old harbor is open from nine to six, and you can taste all
    of our coffees there. We look forward to your visit, and to hearing how you like what we sent to you this time.</p>`,
).join('');
await publishShopTemplate(database, shop, {
  id: 't-rich',
  sender: 'orders@shop.test',
  source: {
    subject: 'Your order {{Order Number}}',
    previewText: '',
    html: `<p>Dear {{Name}}, thank you for your order {{Order Number}}. We packed it today.</p>
      <p><img src="cid:logo@shop.test" alt="Shop" width="120" height="40"></p>
      <table>{{#Items}}<tr><td>{{Name}}</td><td>{{Price}}</td></tr>{{/Items}}</table>${letter}
      <p>The receipt is attached. Questions? Answer this message, and we will help.</p>`,
    fields: { Items: { kind: 'list' } },
  },
});

const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(30_000), Buffer.from('\n%%EOF')]);
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

interface File {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly contentId?: string;
}

const receipt = (filename: string, bytes: Buffer = pdf): File => ({
  filename,
  contentType: 'application/pdf',
  bytes,
});
const logo: File = {
  filename: 'logo.png',
  contentType: 'image/png',
  bytes: png,
  contentId: 'logo@shop.test',
};

const headers = {
  'X-Order': 'A-1001',
  'X-Street': 'Straße 東京 😀',
  'X-Long': `${'word '.repeat(150)}end`,
  'X-Token': 'x'.repeat(900),
  'X-Encoded': '=?utf-8?Q?not_this?=',
  'List-ID': 'Orders <orders.shop.test>',
  References: Array.from({ length: 20 }, (_, n) => `<m${n}@shop.test>`).join(' '),
  'In-Reply-To': '<m19@shop.test>',
  Importance: 'high',
  'Feedback-ID': 'receipts:shop:mail:signalpost',
};

interface Case {
  readonly what: string;
  readonly name: string;
  readonly subject: string;
  readonly items: readonly { readonly Name: string; readonly Price: string }[];
  readonly files: readonly File[];
  readonly headers?: Readonly<Record<string, string>>;
}

const cases: readonly Case[] = [
  {
    what: 'Latin text',
    name: 'Ada Lovelace',
    subject: 'Your order A-1001',
    items: [{ Name: 'Espresso beans', Price: '24.90' }],
    files: [logo, receipt('receipt.pdf')],
  },
  {
    what: 'Arabic text',
    name: 'سارة المنصور',
    subject: 'طلبك رقم ١٠٠١ جاهز للشحن اليوم',
    items: [{ Name: 'قهوة عربية', Price: '٢٤٫٩٠' }],
    files: [logo, receipt('فاتورة رقم ١٠٠١.pdf')],
  },
  {
    what: 'Chinese text and a long name',
    name: '王小明'.repeat(30),
    subject: '您的订单已经发货，感谢您的惠顾'.repeat(3),
    items: Array.from({ length: 40 }, (_, n) => ({ Name: `咖啡豆 ${n}`, Price: '¥168' })),
    files: [logo, receipt(`${'收据'.repeat(100)}.pdf`), receipt('收据 2.pdf', randomPdf())],
  },
  {
    what: 'emoji, quotes and percent signs',
    name: 'Žofie "Zo" O’Nováková 😀👩‍🚀',
    subject: '🎉 Your order — “A-1001” 100%25 =?utf-8?Q?x?=',
    items: [{ Name: '☕️ <Beans> & more', Price: '24,90 €' }],
    files: [
      logo,
      receipt('🧾 100%25 "off"; x=\'1\'.pdf'),
      receipt('it\'s 5"; 100%.pdf', randomPdf()),
      receipt(`${'long name '.repeat(20)}.pdf`, randomPdf()),
    ],
  },
  {
    what: 'all headers',
    name: 'Ada Lovelace',
    subject: 'Your order A-1001',
    items: [],
    files: [logo, receipt('receipt.pdf')],
    headers,
  },
];

function randomPdf(): Buffer {
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(10_000)]);
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function sendCase(message: Case, number: number): Promise<Buffer> {
  const toAddress = `reader${number}@people.test`;
  const response = await client.send({
    template: 't-rich',
    body: bodyWith({
      envelope: { toAddress, toDisplayName: message.name },
      content: {
        subjectLine: message.subject,
        personalizationDataMap: {
          Name: message.name,
          'Order Number': 'A-1001',
          Items: message.items,
        },
        attachments: message.files.map(({ bytes, ...file }) => ({
          ...file,
          content: bytes.toString('base64'),
        })),
        ...(message.headers && { headers: message.headers }),
      },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(response.status, 200, response.text);
  const mail = await waitFor('the mail', () => sink.mails.find(({ to }) => to.includes(toAddress)));
  return Buffer.from(mail.source);
}

for (const [number, message] of cases.entries()) {
  const { what, name, subject, files } = message;
  const raw = await sendCase(message, number);
  const expected = files.map(({ filename, bytes }) => [filename, hashOf(bytes)]);

  test(`mail with ${what} is 7-bit-safe, in lines of at most 998 octets`, () => {
    const text = raw.toString('latin1');
    assert.match(text, /^(?:[\t -~]|\r\n)*$/, 'no byte of another kind, no bare CR or LF');
    for (const line of text.split('\r\n')) assert.ok(line.length <= 998, line.slice(0, 80));
  });

  test('… and read by the service’s own reader as it was sent', () => {
    const parsed = readSentMail(raw);
    assert.equal(parsed.subject, subject);
    assert.deepEqual(parsed.mailboxes('to'), [{ address: `reader${number}@people.test`, name }]);
    assert.deepEqual(
      parsed.files.map(({ filename, content }) => [filename, hashOf(content)]),
      expected,
    );
    assert.equal(parsed.files[0]?.contentId, 'logo@shop.test');
    for (const item of message.items) assert.ok(parsed.text?.includes(item.Name), item.Name);
    for (const [header, value] of Object.entries(message.headers ?? {}))
      if (/^X-/.test(header)) assert.equal(parsed.decoded(header), value, header);
  });

  test('… and by Python’s email package in strict mode', () => {
    const read = readWithPython(raw);
    assert.equal(read.subject, subject);
    assert.deepEqual(read.to, { name, address: `reader${number}@people.test` });
    assert.deepEqual(
      read.files.map((file) => [file.name, hashOf(Buffer.from(file.content, 'base64'))]),
      expected,
    );
    assert.deepEqual(
      read.files.map(({ type, disposition }) => [type, disposition]),
      files.map(({ contentType, contentId }) => [
        contentType,
        contentId === undefined ? 'attachment' : 'inline',
      ]),
    );
    assert.equal(read.files[0]?.contentId, '<logo@shop.test>');
    for (const item of message.items) assert.ok(read.text.includes(item.Name), item.Name);
    for (const [header, value] of Object.entries(message.headers ?? {}))
      assert.equal(read.headers[header.toLowerCase()], value, header);
  });

  test('… and its files are unpacked unchanged by munpack, plain names included', () => {
    const unpacked = unpackFiles(raw);
    const hashes = [...unpacked.values()].map(hashOf).sort();
    assert.deepEqual(hashes, files.map(({ bytes }) => hashOf(bytes)).sort());
    for (const { filename, bytes } of files)
      if (/^[\w.]{1,60}$/.test(filename))
        assert.equal(hashOf(unpacked.get(filename) ?? Buffer.alloc(0)), hashOf(bytes));
  });

  test('… and its signatures are valid for mailauth, OpenDKIM and rspamd, which finds no fault in its form', async () => {
    await requireDkimPass(raw, keys);
    requireOpenDkimPass(raw, keys);
    const symbols = await rspamd.check(raw.toString('latin1'), {
      ip: '127.0.0.1',
      helo: 'mail.shop.test',
      from: 'orders@shop.test',
      rcpt: `reader${number}@people.test`,
    });
    assert.ok(symbols.has('R_DKIM_ALLOW'), [...symbols].join());
    const faults = [...symbols].filter((symbol) =>
      /^(BROKEN_|MIME_(BAD|HEADER)|R_BAD_|R_PARTS_DIFFER|INVALID_|MISSING_|SUBJ_EXCESS|FROM_EXCESS|TO_EXCESS|R_DKIM_(REJECT|PERMFAIL)|.*_RAW_|RCVD_ILLEGAL|BAD_)/.test(
        symbol,
      ),
    );
    assert.deepEqual(faults, []);
  });

  test('… and SpamAssassin scores it 0 or less', () => requireNoSpam(raw));
}
