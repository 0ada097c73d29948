import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type EncodedText,
  encodeText,
  QuotedPrintableWriter,
} from '../../../src/content/rendering/quoted-printable.ts';
import { hostileText } from '../../support/hostile-text.ts';

/** A strict decoder for RFC 2045 §6.7. */
function decode(encoded: string): string {
  assert.match(encoded, /^[\x20-\x7e\t\r\n]*$/);
  const lines = encoded.split('\r\n');
  for (const line of lines) {
    assert.ok(line.length <= 76, `a line of ${line.length} characters`);
    assert.doesNotMatch(line, /[\r\n]/);
    assert.doesNotMatch(line, /[ \t]$/);
    assert.doesNotMatch(line.replace(/=$/, ''), /=(?![0-9A-F]{2})/);
  }
  const whole = lines
    .map((line) => (line.endsWith('=') ? line.slice(0, -1) : `${line}\n`))
    .join('')
    .slice(0, -1);
  const octets = whole.replace(/=([0-9A-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(octets, 'latin1').toString('utf8');
}

function write(pieces: readonly { text: string; fixed: boolean }[]): {
  encoded: string;
  octets: number;
} {
  const writer = new QuotedPrintableWriter();
  for (const { text, fixed } of pieces) {
    if (fixed) writer.addEncoded(encodeText(text));
    else writer.addText(text);
  }
  return { encoded: writer.finish(), octets: writer.octets };
}

/** Encodes text as a static piece of a template. */
function encodeAlone(text: string): string {
  return write([{ text, fixed: true }]).encoded;
}

const text = hostileText(4).map((value) => value.replace(/\r\n?/g, '\n'));
const long = fc
  .tuple(fc.integer({ min: 60, max: 90 }), fc.constantFrom('a', '=', 'é', ' ', 'a ', '漢', 'ab\n'))
  .map(([length, unit]) => unit.repeat(length));

test('encoded text has lines of at most 76 characters and decodes to itself', () => {
  fc.assert(
    fc.property(fc.oneof(text, long), (value) => {
      assert.equal(decode(encodeAlone(value)), value);
      assert.equal(write([{ text: value, fixed: false }]).encoded, encodeAlone(value));
    }),
  );
});

test('text assembled from encoded pieces and values decodes as if encoded at once', () => {
  const piece = fc.record({
    text: fc.oneof(text, long, fc.constantFrom('', ' ', '\n', '=')),
    fixed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const whole = pieces.map((part) => part.text).join('');
      const writer = write(pieces);
      assert.equal(decode(writer.encoded), whole);
      assert.equal(writer.octets, Buffer.byteLength(whole));
    }),
  );
});

test('a seam at any column breaks the line only if necessary', () => {
  for (let before = 0; before <= 80; before += 1) {
    for (const length of [1, 2, 30, 74, 75, 76, 77, 200]) {
      const pieces = [
        { text: 'x'.repeat(before), fixed: false },
        { text: 'y'.repeat(length), fixed: true },
        { text: 'z'.repeat(before), fixed: false },
        { text: 'line\nend', fixed: true },
      ];
      assert.equal(decode(write(pieces).encoded), pieces.map((part) => part.text).join(''));
    }
  }
  assert.equal(
    write([
      { text: 'ab', fixed: true },
      { text: 'c', fixed: false },
      { text: 'd', fixed: true },
    ]).encoded,
    'abcd',
  );
});

test('white space at the end of a line is encoded so that no server can strip it', () => {
  const cases: [string, string][] = [
    ['a \nb', 'a=20\r\nb'],
    ['a\t\n', 'a=09\r\n'],
    ['a ', 'a=20'],
    ['a  \n', 'a =20\r\n'],
    ['a b', 'a b'],
    ['a=b', 'a=3Db'],
    ['é\n', '=C3=A9\r\n'],
    ['\u0000\u007f', '=00=7F'],
  ];
  for (const [plain, encoded] of cases) assert.equal(encodeAlone(plain), encoded);
});

test('a space at a seam is escaped only if a line ends after it', () => {
  for (const fixed of [true, false]) {
    const seam = (...texts: string[]): string =>
      write(texts.map((text, place) => ({ text, fixed: (place % 2 === 0) === fixed }))).encoded;
    assert.equal(seam('Hello ', 'Anna', ', your order\t', 'is'), 'Hello Anna, your order\tis');
    assert.equal(seam('Hello ', ' ', 'Anna'), 'Hello  Anna');
    assert.equal(seam('Hello ', '\nAnna'), 'Hello=20\r\nAnna');
    assert.equal(seam('Hello ', ' ', '\nAnna'), 'Hello =20\r\nAnna');
    assert.equal(seam('Hello', ' '), 'Hello=20');
    assert.equal(seam('Hello ', '', 'é'), 'Hello =C3=A9');
    assert.equal(
      seam(`${'x'.repeat(74)} `, 'y'.repeat(75)),
      `${'x'.repeat(74)} =\r\n${'y'.repeat(75)}`,
    );
  }
});

test('the metadata of an encoded piece matches its text', () => {
  const piece: EncodedText = encodeText('ab\ncdé');
  assert.deepEqual([piece.firstLine, piece.lastLine, piece.octets], [2, 8, 7]);
  assert.equal(encodeText('ab').lastLine, -1);
  const spaced = encodeText('ab ');
  assert.deepEqual([spaced.encoded, spaced.space, spaced.octets], ['ab', ' ', 3]);
});
