import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser/index.js';
import { decodeWords } from '../../../src/base/mime/decode.ts';
import { parseEmailAddress } from '../../../src/base/values/email-address.ts';
import { mailboxHeader, textHeader } from '../../../src/content/rendering/message-headers.ts';
import { oneLine } from '../../../src/content/rendering/render-subject.ts';
import { hostileText } from '../../support/hostile-text.ts';

function address(text: string) {
  const parsed = parseEmailAddress(text);
  assert.ok(parsed.ok);
  return parsed.address;
}

/** Checks lines, folds and encoded words against RFC 5322 §2.2.3 and RFC 2047 §2. */
function checkLines(header: string): void {
  assert.match(header, /^[\x20-\x7e\r\n]*$/);
  const lines = header.split('\r\n');
  for (const [index, line] of lines.entries()) {
    assert.doesNotMatch(line, /[\r\n]/);
    assert.match(line, /\S/);
    if (index > 0) assert.match(line, /^ \S/);
    if (!line.includes('@'))
      assert.ok(line.length <= 78, `a line of ${line.length} characters: ${line}`);
    assert.ok(line.length <= 998);
    if (line.includes('=?') && !line.includes('@')) assert.ok(line.length <= 76);
    for (const [word, encoding, text = ''] of line.matchAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/g)) {
      assert.ok(word.length <= 75);
      // Each encoded word contains whole characters (RFC 2047 §5).
      const octets =
        encoding === 'B'
          ? Buffer.from(text, 'base64')
          : Buffer.from(
              text.replace(/=(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            );
      assert.doesNotThrow(() => new TextDecoder('utf-8', { fatal: true }).decode(octets));
    }
  }
}

function unfold(header: string): string {
  return header
    .slice(header.indexOf(':') + 1)
    .replace(/\r\n(?=[ \t])/g, '')
    .trim();
}

test('any subject decodes to itself, in one header field with valid line lengths', () => {
  fc.assert(
    fc.property(fc.oneof(hostileText(), hostileText(40)), (text) => {
      const header = textHeader('Subject', text);
      checkLines(header);
      assert.equal(decodeWords(unfold(header)), oneLine(text));
    }),
  );
});

test('plain subjects stay readable and are folded at spaces', () => {
  assert.equal(textHeader('Subject', 'Your order A-1001'), 'Subject: Your order A-1001');
  assert.equal(
    textHeader('Subject', `${'word '.repeat(20)}end`),
    `Subject: ${'word '.repeat(13)}word\r\n ${'word '.repeat(6)}end`,
  );
  assert.equal(textHeader('Subject', ''), 'Subject: ');
  assert.equal(
    textHeader('Subject', '=?utf-8?Q?x?='),
    'Subject: =?utf-8?Q?=3D=3Futf-8=3FQ=3Fx=3F=3D?=',
  );
  assert.equal(textHeader('Subject', 'a\r\nBcc: x@y.test'), 'Subject: a Bcc: x@y.test');
});

test('any display name decodes to itself, with its address, and adds no mailbox', () => {
  const mailbox = address('orders@shop.test');
  fc.assert(
    fc.property(fc.oneof(hostileText(), hostileText(20)), (name) => {
      const header = mailboxHeader('From', [{ address: mailbox, displayName: name }]);
      checkLines(header);
      const [first, ...others] = addressparser(unfold(header));
      assert.deepEqual(others, []);
      assert.ok(first !== undefined && 'address' in first);
      assert.equal(first.address, mailbox);
      const shown = oneLine(name);
      assert.equal(decodeWords(first.name ?? ''), shown);
    }),
  );
});

test('display names are atoms, quoted strings or encoded words, as required', () => {
  const from = (displayName: string) =>
    mailboxHeader('From', [{ address: address('a@shop.test'), displayName }]);
  assert.equal(from('Demo Shop'), 'From: Demo Shop <a@shop.test>');
  assert.equal(from('Shop, Inc. "The"'), 'From: "Shop, Inc. \\"The\\"" <a@shop.test>');
  assert.equal(from('Käse'), 'From: =?utf-8?Q?K=C3=A4se?= <a@shop.test>');
  assert.equal(from('山田商店'), 'From: =?utf-8?B?5bGx55Sw5ZWG5bqX?= <a@shop.test>');
  assert.equal(from(''), 'From: a@shop.test');
  assert.equal(from('a@b.test'), 'From: "a@b.test" <a@shop.test>');
});

test('lists of mailboxes are folded between mailboxes', () => {
  const list = Array.from({ length: 5 }, (_, index) => ({
    address: address(`somebody.${index}@department.shop.test`),
  }));
  const header = mailboxHeader('Cc', list);
  checkLines(header);
  for (const line of header.split('\r\n')) assert.ok(line.length <= 78);
  assert.deepEqual(
    addressparser(unfold(header)).map((found) => 'address' in found && found.address),
    list.map((entry) => entry.address),
  );
  const longest = address(
    `${'l'.repeat(64)}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.test`,
  );
  checkLines(
    mailboxHeader('Cc', [{ address: longest }, { address: longest, displayName: 'é'.repeat(90) }]),
  );
});
