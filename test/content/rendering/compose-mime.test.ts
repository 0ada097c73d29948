import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type EmailAddress, parseEmailAddress } from '../../../src/base/values/email-address.ts';
import { composeMime, type HeaderAddresses } from '../../../src/content/rendering/compose-mime.ts';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { oneLine } from '../../../src/content/rendering/render-subject.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { type ReadMail, readSentMail } from '../../support/read-mail.ts';
import { loadSource, render } from '../../support/render-template.ts';

const ID = '0190a6e0-7c1b-7000-8000-0123456789ab';
const identity = { messageId: ID, acceptedAt: new Date('2026-03-12T09:08:07.654Z') };

function address(text: string): EmailAddress {
  const parsed = parseEmailAddress(text);
  assert.ok(parsed.ok);
  return parsed.address;
}

const envelope: HeaderAddresses = {
  from: { address: address('orders@shop.test'), displayName: 'Demo Shop' },
  to: [{ address: address('reader@mail.test') }],
};

/** Checks the rules for every message (RFC 5322 §2.1.1, §2.3; RFC 2045 §2.7). */
function checkBytes(raw: Buffer): void {
  const text = raw.toString('latin1');
  assert.doesNotMatch(text, /[^\r\n\t\x20-\x7e]/);
  assert.doesNotMatch(text, /(?<!\r)\n|\r(?!\n)/);
  assert.ok(text.endsWith('\r\n'));
  const [head = '', ...rest] = text.split('\r\n\r\n');
  for (const line of head.split('\r\n')) assert.ok(line.length <= 78, line);
  for (const line of rest.join('\r\n\r\n').split('\r\n')) assert.ok(line.length <= 76, line);
}

function addresses(mail: ReadMail, name: string): string[] {
  return mail.mailboxes(name).map(({ address: written }) => written);
}

/** Header names in order, read from the bytes. */
function headerNames(raw: Buffer): string[] {
  const [head = ''] = raw.toString('latin1').split('\r\n\r\n');
  return [...head.matchAll(/^([\w-]+):/gm)].map((match) => match[1] ?? '');
}

test('a message has exactly the expected headers and parts', async () => {
  const rendered = await render({ subject: 'Hi', html: '<p>h', text: 't' });
  const { raw, messageId, needsSmtpUtf8 } = composeMime(rendered, envelope, identity);
  assert.equal(messageId, `<${ID}@shop.test>`);
  assert.equal(needsSmtpUtf8, false);
  assert.deepEqual(raw.toString().split('\r\n'), [
    'From: Demo Shop <orders@shop.test>',
    'To: reader@mail.test',
    'Subject: Hi',
    'Date: Thu, 12 Mar 2026 09:08:07 +0000',
    `Message-ID: <${ID}@shop.test>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative;',
    ` boundary="=_${ID}"`,
    '',
    `--=_${ID}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    't',
    '',
    `--=_${ID}`,
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>h',
    '',
    `--=_${ID}--`,
    '',
  ]);
});

test('2.2: Reply-To is present if it differs from From, Cc if there is any', async () => {
  const rendered = await render({ text: 't' });
  const same = composeMime(
    rendered,
    { ...envelope, replyTo: [{ address: envelope.from.address }], cc: [] },
    identity,
  );
  assert.ok(!headerNames(same.raw).some((name) => name === 'Reply-To' || name === 'Cc'));
  const cc = ['a@mail.test', 'b@mail.test'].map(address);
  const other = composeMime(
    rendered,
    {
      ...envelope,
      replyTo: [{ address: address('help@shop.test') }],
      cc: cc.map((one) => ({ address: one })),
    },
    identity,
  );
  const mail = readSentMail(other.raw);
  assert.deepEqual(addresses(mail, 'reply-to'), ['help@shop.test']);
  assert.deepEqual(addresses(mail, 'cc'), cc);
});

test('a message shows several recipients with their names, and none if it has none', async () => {
  const rendered = await render({ text: 't' });
  const to = [
    { address: address('ada@mail.test'), displayName: 'Ada, Countess' },
    { address: address('bob@mail.test') },
  ];
  const cc = [{ address: address('eve@mail.test'), displayName: 'Ève' }];
  const replyTo = [{ address: envelope.from.address }, { address: address('help@shop.test') }];
  const mail = readSentMail(composeMime(rendered, { ...envelope, to, cc, replyTo }, identity).raw);
  assert.equal(mail.decoded('to'), '"Ada, Countess" <ada@mail.test>, bob@mail.test');
  assert.equal(mail.decoded('cc'), 'Ève <eve@mail.test>');
  assert.deepEqual(addresses(mail, 'reply-to'), ['orders@shop.test', 'help@shop.test']);
  const hidden = composeMime(rendered, { ...envelope, to: [] }, identity);
  assert.ok(!headerNames(hidden.raw).includes('To'));
});

test('the same message always has the same bytes', async () => {
  const source = { subject: '{{A}}', html: '<p>{{A}}', text: '{{A}}' };
  const first = composeMime(await render(source, { A: 'ü' }), envelope, identity);
  const second = composeMime(await render(source, { A: 'ü' }), envelope, identity);
  assert.deepEqual(first.raw, second.raw);
});

test('a message with a single part is not multipart', async () => {
  const text = readSentMail(composeMime(await render({ text: 'only ü' }), envelope, identity).raw);
  assert.deepEqual([text.text?.trim(), text.html], ['only ü', undefined]);
  assert.match(
    composeMime(await render({ text: 't' }), envelope, identity).raw.toString(),
    /Content-Type: text\/plain/,
  );
});

test('mostly non-Latin text is encoded as base64 if that is shorter', async () => {
  const text = '日本語のご案内です。\n'.repeat(20);
  const { raw } = composeMime(await render({ text, html: '<p>x</p>' }), envelope, identity);
  checkBytes(raw);
  assert.match(raw.toString(), /Content-Transfer-Encoding: base64\r\n\r\n5pel/);
  assert.match(raw.toString(), /Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>x/);
  assert.equal(readSentMail(raw).text, text);
});

test('the Message-ID uses the configured host, if any', async () => {
  const { messageId } = composeMime(await render({ text: 't' }), envelope, {
    ...identity,
    host: 'mail.shop.test',
  });
  assert.equal(messageId, `<${ID}@mail.shop.test>`);
});

test('an address with a non-ASCII local part requires SMTPUTF8', async () => {
  const to = [{ address: address('josé@mail.test') }];
  const composed = composeMime(await render({ text: 't' }), { ...envelope, to }, identity);
  assert.equal(composed.needsSmtpUtf8, true);
  assert.match(composed.raw.toString('utf8'), /^To: josé@mail\.test\r$/m);
  const domain = composeMime(
    await render({ text: 't' }),
    { ...envelope, to: [{ address: address('a@münchen.test') }] },
    identity,
  );
  assert.equal(domain.needsSmtpUtf8, false);
  checkBytes(domain.raw);
});

test('RFC 6857 3.1.8: for recipients with ASCII addresses, the others are named in an empty group, and the message is ASCII', async () => {
  const wideAddress = address(`${'用户'.repeat(8)}@mail.test`);
  const cc = [{ address: wideAddress }, { address: address('bob@mail.test') }];
  const composed = composeMime(await render({ text: 't' }), { ...envelope, cc }, identity);
  assert.equal(composed.needsSmtpUtf8, true);
  const ascii = composed.composeAscii?.();
  assert.ok(ascii);
  checkBytes(ascii);
  const mail = readSentMail(ascii);
  assert.ok(mail.decoded('cc')?.startsWith(`Internationalized Address ${wideAddress} Removed`));
  assert.deepEqual(addresses(mail, 'cc'), ['bob@mail.test']);
  assert.equal(mail.fields.get('message-id'), composed.messageId);
  const sender = { address: address('josé@shop.test') };
  const wide = composeMime(
    await render({ text: 't' }),
    { ...envelope, from: sender, cc },
    identity,
  );
  assert.equal(wide.composeAscii, undefined);
});

test("additional headers are encoded and can't inject others", async () => {
  const headers = [['List-Unsubscribe', '<https://x.test/u>\r\nBcc: evil@x.test']] as const;
  const { raw } = composeMime(await render({ text: 't' }), envelope, { ...identity, headers });
  assert.ok(!headerNames(raw).includes('Bcc'));
});

const template = await loadSource({
  subject: 'S {{A}} {{#B}}{{{B}}}{{/B}}',
  previewText: 'P {{A}}',
  html: '<html><head><title>{{A}}</title></head><body><p title="{{A}}">{{A}}\n{{B}}</p><a href="{{A}}">x</a> <a href="https://x.test/{{B}}">y</a> {{{B}}}</body></html>',
  text: 'T {{A}}\n{{{B}}} end',
});

test('any values, names and overrides give a valid message with the intended parts', async () => {
  const input = fc.record({
    A: hostileText(),
    B: hostileText(),
    name: hostileText(3),
    subjectLine: fc.option(
      hostileText(3).filter((text) => !text.includes('{{')),
      { nil: undefined },
    ),
    previewText: fc.option(
      hostileText(3).filter((text) => !text.includes('{{')),
      { nil: undefined },
    ),
  });
  await fc.assert(
    fc.asyncProperty(input, async ({ A, B, name, subjectLine, previewText }) => {
      const rendered = renderMessage(template, { values: { A, B }, subjectLine, previewText });
      const from = { address: envelope.from.address, displayName: name };
      const { raw } = composeMime(rendered, { ...envelope, from }, identity);
      checkBytes(raw);
      assert.deepEqual(headerNames(raw).sort(), [
        'Auto-Submitted',
        'Content-Type',
        'Date',
        'From',
        'MIME-Version',
        'Message-ID',
        'Subject',
        'To',
      ]);
      const mail = readSentMail(raw);
      assert.equal(mail.subject, rendered.subject);
      assert.equal(rendered.subject, oneLine(subjectLine ?? `S ${A} ${B}`));
      assert.deepEqual(addresses(mail, 'from'), ['orders@shop.test']);
      assert.deepEqual(addresses(mail, 'to'), ['reader@mail.test']);
      assert.equal(mail.fields.get('message-id'), `<${ID}@shop.test>`);
      assert.equal(mail.files.length, 0);
      const lines = (value: string | null) => (value ?? '').replace(/\n*$/, '');
      assert.equal(lines(mail.text ?? ''), lines(rendered.text));
      assert.equal(lines(mail.html ?? ''), lines(rendered.html));
    }),
  );
});
