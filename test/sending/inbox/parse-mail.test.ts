import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headerValues } from '../../../src/sending/inbox/inbox-message.ts';
import { parseMailJob } from '../../../src/sending/inbox/parse-mail.ts';
import { codePoint } from '../../support/code-point.ts';

function parse(lines: readonly string[]) {
  return parseMailJob({ source: Buffer.from(lines.join('\r\n'), 'utf8') });
}

test('header fields keep their order, names and values', () => {
  const mail = parse([
    'Received: from a',
    'X-Trace: one',
    'received: from b',
    'Subject: =?utf-8?Q?Gr=C3=BC?=',
    ' =?utf-8?Q?=C3=9Fe?= an alle',
    '__proto__: odd',
    '',
    'x',
  ]);
  assert.deepEqual(mail.headers, [
    ['Received', 'from a'],
    ['X-Trace', 'one'],
    ['received', 'from b'],
    ['Subject', 'Grüße an alle'],
    ['__proto__', 'odd'],
  ]);
  assert.equal(mail.subject, 'Grüße an alle');
  assert.deepEqual(headerValues(mail, 'received'), ['from a', 'from b']);
});

test('RFC 6532: header fields may contain UTF-8', () => {
  const mail = parse(['Subject: Grüße 🧀', '', 'x']);
  assert.equal(mail.subject, 'Grüße 🧀');
});

test('the text and HTML parts are as sent, and neither is derived from the other', () => {
  const plain = parse(['Content-Type: text/plain; charset=utf-8', '', 'Grüße <b>']);
  assert.deepEqual([plain.text, plain.html], ['Grüße <b>', null]);
  const html = parse(['Content-Type: text/html; charset=utf-8', '', '<p>Grüße']);
  assert.deepEqual([html.text, html.html], [null, '<p>Grüße']);
  const both = parse([
    'Content-Type: multipart/alternative; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=FC=DFe',
    '--x',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('<img src="cid:a"> https://shop.test').toString('base64'),
    '--x--',
  ]);
  assert.equal(both.text?.trimEnd(), 'Grüße');
  assert.equal(both.html, '<img src="cid:a"> https://shop.test');
});

test('any input is parsed into text that the database can store', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'Subject: =?utf-8?B?',
      '?=',
      'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\n',
      'Content-Transfer-Encoding: base64\r\n',
      'Content-Type: text/html; charset=utf-16\r\n\r\n',
      'Content-Type: text/plain; charset=nonsense\r\n\r\n',
      '\r\n\r\n',
      '--x--',
      '\0',
      ':',
    ),
    fc.string({ unit: codePoint, maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const mail = parseMailJob({ source: Buffer.from(pieces.join(''), 'utf8') });
      const texts = [mail.subject, mail.html ?? '', mail.text ?? '', ...mail.headers.flat()];
      for (const text of texts) assert.ok(text.isWellFormed() && !text.includes('\0'));
    }),
  );
});
