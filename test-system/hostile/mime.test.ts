import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { inboxHeaders } from '../../test/support/service-tokens.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { openSubmissionShop } from '../../test/support/submission-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const world = await openSubmissionShop();
const { shop } = world;
const authorization = `Bearer ${await addKey(shop.database, shop.shop.id)}`;
let sent = 0;

/** Submits a complete message and returns the reply, and its recipient. */
async function submit(source: string): Promise<{ reply: string; to: string }> {
  sent += 1;
  const to = `reader${sent}@people.test`;
  const client = await world.login();
  const head = `From: orders@shop.test\r\nMessage-ID: <${sent}@app.test>\r\nX-Signalpost-Transactional: true\r\n`;
  const reply = await client.submit([to], head + source);
  await client.end();
  return { reply, to };
}

const accepted = /^250 2\.6\.0 Accepted as /;

async function rendered(reply: string) {
  return sendRequest(
    `${shop.service.url}/manage/v1/accounts/${shop.shop.id}/messages/${reply.slice(-36)}/rendered`,
    { headers: { authorization } },
  );
}

const fields = [
  'Content-Type: text/html',
  'DKIM-Signature: v=1',
  'Content-Disposition: inline',
  'X: y',
];
const names = ['__proto__', 'constructor', 'toString'];

for (const field of fields)
  test(`ASVS 5.1.2: parameters of ${field} with the names of properties change no object, in no step of a message`, async () => {
    for (const name of names) {
      const params = ['', '*', '*0', '*0*'].map((star) => `; ${name}${star}=bogus'en'x`).join('');
      const { reply, to } = await submit(`${field}${params}\r\n\r\n<p>Hello</p>`);
      assert.match(reply, accepted);
      const shown = await rendered(reply);
      assert.equal(shown.status, 200, shown.text);
      const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
      assert.match(mail?.source ?? '', /Hello/);
      for (const key in {}) assert.fail(key);
    }
  });

const mixed = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
const part = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n';
const nested = Array.from(
  { length: 10 },
  (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
).join('');

for (const [what, source, reason] of [
  [
    'no boundary',
    'Content-Type: multipart/mixed\r\n\r\nx',
    /the message is multipart\/mixed without/,
  ],
  ['a boundary that no part has', `${mixed}x`, /the message has a boundary that begins none/],
  [
    'two boundaries',
    'Content-Type: multipart/mixed; boundary=b; boundary=c\r\n\r\n',
    /more than one boundary/,
  ],
  [
    'a part of two types',
    `${mixed}${part}--b\r\nContent-Type: text/plain\r\nContent-Type: text/html\r\n\r\nx\r\n--b--`,
    /part 2 has more than one Content-Type/,
  ],
  ['more than 500 parts', `${mixed}${part.repeat(501)}--b--`, /more than 500 parts/],
  ['parts that are nested too deep', nested, /nested deeper than 8/],
  [
    'a file whose other name is forbidden',
    `${mixed}--b\r\nContent-Type: text/plain; name=a.exe\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n--b--`,
    /a\.txt has the extension \.exe/,
  ],
  [
    'a file whose name is continued',
    `${mixed}--b\r\nContent-Disposition: attachment; filename*0="a.e"; filename*1="xe...  "\r\n\r\nx\r\n--b--`,
    /has the extension \.exe/,
  ],
] as const)
  test(`a message with ${what} gets 554, which names the part`, async () => {
    const { reply } = await submit(source);
    assert.match(reply, /^554 5\.6\.0 Invalid message: /);
    assert.match(reply, reason);
  });

test('RFC 2046 section 5.1.1: a boundary that begins another one splits no part, and the mail arrives as it was', async () => {
  const inner = '--b2\r\nContent-Type: text/html\r\n\r\n<p>ü</p>\r\n--b2--';
  const source = `${mixed}--b\r\nContent-Type: multipart/alternative; boundary=b2\r\n\r\n${inner}\r\n--b--\r\n`;
  const { reply } = await submit(source);
  assert.match(reply, accepted);
  assert.equal((await rendered(reply)).body.html, '<p>ü</p>');
});

test('RFC 5322 section 2.1.1: a header field that is too long is folded', async () => {
  const ids = Array.from({ length: 60 }, (_, place) => `<message-${place}@shop.test>`).join(' ');
  const { reply, to } = await submit(`References: ${ids}\r\n\r\nx`);
  assert.match(reply, accepted);
  const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
  const source = mail?.source ?? '';
  assert.ok(source.split('\r\n').every((line) => line.length <= 998));
  assert.ok(source.replaceAll('\r\n ', ' ').includes(`References: ${ids}`));
});

const mebibyte = 1_024 * 1_024;
const folded = (text: string, times: number) => `${`${text}\r\n `.repeat(times)}x`;
const nestedIn = (body: string, levels: number): string =>
  Array.from(
    { length: levels },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  ).join('') + body;
/** The longest that others may wait meanwhile; each of these messages once held them up for 10 to 60 seconds. */
const maxDelayMs = 5_000;

for (const [what, source] of [
  [
    'nine megabytes of dashes under a boundary of dashes',
    `Content-Type: multipart/mixed; boundary="${'-'.repeat(60)}"\r\n\r\n${`${'-'.repeat(70)}\r\n`.repeat((9 * mebibyte) / 72)}`,
  ],
  [
    'many file names full of dots',
    `${mixed}${`--b\r\nContent-Disposition: attachment; filename="${'.'.repeat(3_900)}x"\r\n\r\nx\r\n`.repeat(490)}--b--`,
  ],
  ['an address of 120 kilobytes', `To: ${folded('a-'.repeat(400), 150)}\r\n\r\nx`],
  [
    'an encoding of brackets',
    `Content-Transfer-Encoding: ${folded('('.repeat(900), 110)}\r\n\r\nx`,
  ],
  [
    'nine megabytes of empty lines in eight levels',
    nestedIn(`\r\n${'\r\n'.repeat((9 * mebibyte) / 2)}`, 8),
  ],
  ['a link of dots', `\r\nhttp://a${'.'.repeat(900)}\r\n`.repeat(300)],
] as const)
  test(`${what} hold nobody up: the message is answered for, and shown if it was accepted`, async () => {
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    const { reply, to } = await submit(source);
    assert.match(reply, /^(250|554) /);
    if (reply.startsWith('250')) {
      assert.ok((await rendered(reply)).status < 500);
      const mails = await readInbox(shop.service.url, `?to=${to}&wait=60`);
      assert.equal(mails.length, 1);
    }
    delays.disable();
    assert.ok(delays.max / 1e6 < maxDelayMs, `${delays.max / 1e6} ms`);
  });

test('a captured message that can’t be read is kept with its header and source, and both APIs say so', async () => {
  const source = `Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n${mixed}${part.repeat(1_001)}--b--`;
  const client = await SmtpClient.open({ port: shop.service.app.inboxPort() ?? 0 });
  await client.greet();
  const reply = await client.submit(['unread@people.test'], source);
  assert.match(reply, /^250 /);
  await client.end();
  const [mail] = await waitFor('the mail', async () => {
    const found = await readInbox(shop.service.url, '?to=unread@people.test');
    return found.length > 0 && found;
  });
  assert.equal(mail?.unread, true);
  assert.equal(mail?.subject, 'Grüße');
  assert.equal(mail?.text, null);
  const { body } = await sendRequest(`${shop.service.url}/manage/v1/inbox/messages/${mail?.id}`, {
    headers: inboxHeaders,
  });
  assert.equal(body.unread, true);
  assert.deepEqual(body.attachments, []);
});
