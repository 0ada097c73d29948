import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeWords } from '../../../src/base/mime/decode.ts';
import { readParameters } from '../../../src/base/mime/header-fields.ts';
import { readEntity, splitParts } from '../../../src/base/mime/mime-entity.ts';
import { parseMailboxes } from '../../../src/base/mime/parse-mailboxes.ts';
import { readMail } from '../../../src/base/mime/read-mail.ts';
import { hostileText } from '../../support/hostile-text.ts';

function split(body: string, boundary: string): string[] {
  return splitParts(Buffer.from(body), boundary).parts.map(String);
}

for (const [what, body, parts] of [
  [
    'a boundary that begins another one',
    '--b2\r\nx\r\n--b\r\ny\r\n--b2--\r\n--b--',
    ['y\r\n--b2--'],
  ],
  ['blanks after the boundary', '--b \t\r\nx\r\n--b-- \r\ny', ['x']],
  ['text after the boundary', '--b\r\nx\r\n--b y\r\n--b--', ['x\r\n--b y']],
  ['one dash after the boundary', '--b\r\nx\r\n--b-\r\n--b--', ['x\r\n--b-']],
  ['a boundary within a line', '--b\r\nx --b\r\n--b--', ['x --b']],
  ['no end', '--b\r\nx', ['x']],
  ['an empty part', '--b\r\n--b--', ['']],
  ['bare line feeds', '--b\nx\n--b\ny\n--b--', ['x', 'y']],
  ['nothing', '', []],
] as const)
  test(`RFC 2046 section 5.1.1: parts are found with ${what}`, () => {
    assert.deepEqual(split(body, 'b'), parts);
  });

test('separators and parts are all of the body', () => {
  const piece = fc.constantFrom('--b', '--', '-', '\r\n', '\n', ' ', 'x', 'b2', '--b--\r\n');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const body = pieces.join('');
      const { separators, parts } = splitParts(Buffer.from(body), 'b');
      assert.equal(separators.length, parts.length + 1);
      assert.equal(separators.map((one, index) => `${one}${parts[index] ?? ''}`).join(''), body);
    }),
  );
});

for (const [value, name, values] of [
  ['a/b; filename=x.txt', 'filename', ['x.txt']],
  ['a/b; FileName = "a \\"b\\"; c" ', 'filename', ['a "b"; c']],
  ['a/b; filename=my file.txt ; x=y', 'filename', ['my file.txt']],
  ['a/b (; filename=no) ; filename=yes(no)', 'filename', ['yes']],
  ["a/b; filename*=utf-8'en'%e2%82%ac.txt; filename=e.txt", 'filename', ['€.txt', 'e.txt']],
  ["a/b; filename*1*=%ac.t; filename*0*=utf-8''%e2%82; filename*2=xt", 'filename', ['€.txt']],
  ['a/b; filename*0="a."; filename*1="exe"', 'filename', ['a.exe']],
  ["a/b; filename*=iso-8859-1''%fc", 'filename', ['ü']],
  ["a/b; filename*=nonsense''%fc", 'filename', ['ü']],
  ['a/b; filename=a; filename=b', 'filename', ['a', 'b']],
  ['a/b; filename="open', 'filename', ['open']],
  ['a/b;;; =x; filename', 'filename', undefined],
] as const)
  test(`RFC 2045 and 2231: the parameter in ${value}`, () => {
    const read = readParameters(value);
    assert.equal(read.value, 'a/b');
    assert.deepEqual(read.params.get(name), values);
  });

test('the encoded words of RFC 2047 section 8 are decoded', () => {
  for (const [written, text] of [
    ['=?ISO-8859-1?Q?a?=', 'a'],
    ['=?ISO-8859-1?Q?a?= b', 'a b'],
    ['=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=', 'ab'],
    ['=?ISO-8859-1?Q?a?=  \r\n =?ISO-8859-1?Q?b?=', 'ab'],
    ['=?ISO-8859-1?Q?a_b?=', 'a b'],
    ['=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=', 'a b'],
    ['=?utf-8?B?4oI=?= =?utf-8?B?rA==?=', '€'],
    ['=?utf-8*en?q?x?=', 'x'],
    ['=?utf-8?q?open', '=?utf-8?q?open'],
    ['=?nonsense?q?=FC?=', 'ü'],
  ] as const)
    assert.equal(decodeWords(written), text, written);
});

test('RFC 5322 section 3.4: lists of addresses with groups, comments and quotes', () => {
  assert.deepEqual(
    parseMailboxes(
      '"Shop, (A)" <a@x.test>, b@x.test (Ben), Team: c@x.test, =?utf-8?q?D=C3=B6?= <d@x.test>;, nobody, <>',
      10,
    ),
    [
      { address: 'a@x.test', name: 'Shop, (A)' },
      { address: 'b@x.test', name: 'Ben' },
      { address: 'c@x.test', name: '' },
      { address: 'd@x.test', name: 'Dö' },
    ],
  );
});

test('RFC 3676: the lines of a flowed text are joined', () => {
  const body = 'one \r\ntwo\r\n> a \r\n> b\r\n-- \r\nme';
  const { text } = readMail(Buffer.from(`Content-Type: text/plain; format=flowed\r\n\r\n${body}`));
  assert.equal(text, 'one two\n> a b\n-- \nme');
});

for (const [what, head] of [
  ['two types', 'Content-Type: text/plain\r\nContent-Type: text/html'],
  ['two boundaries', 'Content-Type: multipart/mixed; boundary=a; boundary=b'],
  ['no boundary', 'Content-Type: multipart/mixed'],
  ['a type that is too long', `Content-Type: text/plain; x="${'x'.repeat(5_000)}"`],
] as const)
  test(`mail programs disagree about an entity with ${what}`, () => {
    assert.ok(readEntity(Buffer.from(`${head}\r\n\r\nx`)).ambiguity);
  });

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'charset', 'then'];

test('no name that an outsider chooses reaches an object', () => {
  const name = fc.constantFrom(...names);
  const suffix = fc.constantFrom('', '*', '*0', '*0*', '*1*');
  const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
  fc.assert(
    fc.property(name, suffix, name, hostileText(3), (field, star, other, text) => {
      const param = `${field}${star}=bogus'en'${text.replaceAll(/[\r\n]/g, '')}`;
      const source = [
        `${other}: x/y; ${param}`,
        `Content-Type: multipart/mixed; ${param}; boundary=${other}`,
        `Content-Disposition: ${other}; ${param}`,
        '',
        `--${other}`,
        `Content-Type: text/plain; name=${other}; ${param}`,
        `Content-ID: <${other}>`,
        '',
        text,
        `--${other}--`,
      ].join('\r\n');
      const entity = readEntity(Buffer.from(source));
      assert.deepEqual(entity.fields.values(other.toLowerCase()).length, 1);
      readMail(Buffer.from(source));
      assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), before);
      for (const key in {}) assert.fail(key);
    }),
  );
});
