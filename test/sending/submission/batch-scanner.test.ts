import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BatchScanner, type ScannedBatch } from '../../../src/sending/submission/read-batch.ts';
import { codePoint } from '../../support/code-point.ts';

/** Scans pieces of a length and resolves with what was found; undefined if the text isn't valid JSON. */
function scan(text: string, pieceBytes = 1_000_000, maxItems = 1_000): ScannedBatch | undefined {
  const scanner = new BatchScanner(Buffer.from(text), maxItems);
  while (!scanner.scan(pieceBytes)) {
    // Another piece is left.
  }
  return scanner.finish();
}

function itemsOf(text: string, pieceBytes?: number): string[] | undefined {
  const bytes = Buffer.from(text);
  return scan(text, pieceBytes)?.ranges.map(([start, end]) => bytes.toString('utf8', start, end));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
/** JSON values as text, with whitespace and all kinds of numbers and escapes. */
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('true', 'false', 'null', '0', '-0', '1.5', '-12e+3', '0E-0', '7e9', '""'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.string({ unit: codePoint }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u00e9\\uD83D\\/"', '"é\u{1f600}"', '"\\"]},{[\\\\"'),
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((parts) => parts.join('')).join(',')}]`),
    fc
      .array(fc.tuple(space, fc.string(), space, tie('value'), space), { maxLength: 4 })
      .map(
        (members) =>
          `{${members.map(([a, name, b, value, c]) => `${a}${JSON.stringify(name)}${b}:${value}${c}`).join(',')}}`,
      ),
  ),
}));

test('RFC 8259: the scanner accepts exactly what JSON.parse accepts, in pieces of any length', () => {
  const damaged = fc
    .tuple(
      jsonText,
      fc.nat(),
      fc.nat(3),
      fc.string({ unit: fc.constantFrom(...']{[}",:0-9eE+.\\tfn \u0001'), maxLength: 3 }),
    )
    .map(([text, at, removed, added]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + added + text.slice(place + removed);
    });
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        jsonText,
        fc.tuple(space, jsonText, space).map((parts) => parts.join('')),
      ),
      fc.integer({ min: 1, max: 40 }),
      (text, pieceBytes) => {
        assert.equal(
          scan(text.toWellFormed(), pieceBytes) !== undefined,
          isJson(text.toWellFormed()),
        );
      },
    ),
  );
});

test('RFC 8259: near misses of JSON are refused', () => {
  const texts =
    '{"a":1,} [1,] {,} [,] {"a"} {"a":} {1:2} {"a":1"b":2} [1 2] [1}} {"a":1] 01 -01 - +1 1. .5 1.e5 1e 1e+ 1ee5 1.2.3 tru truE nul fals "a "\\x" "\\u12g4" ] } [ { 1,2 "a":1 \'a\' NaN undefined';
  for (const text of [...texts.split(' '), '[1 2]', '"a\nb"', '- 1', 't rue', '1 2']) {
    assert.equal(isJson(text), false, text);
    for (const pieceBytes of [1, 1_000]) assert.equal(scan(text, pieceBytes), undefined, text);
  }
});

test('each item is found with exactly its own bytes, whatever surrounds it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(space, jsonText, space), { maxLength: 5 }),
      fc.array(fc.tuple(fc.string(), jsonText), { maxLength: 2 }),
      fc.constantFrom('"messages"', '"mess\\u0061ges"'),
      fc.integer({ min: 1, max: 40 }),
      (items, others, name, pieceBytes) => {
        const list = items.map((parts) => parts.join('').toWellFormed()).join(',');
        const members = others
          .filter(([other]) => other !== 'messages')
          .map(([other, value]) => `${JSON.stringify(other)}:${value},`.toWellFormed());
        const text = ` {${members.join('')} ${name} : [${items.length === 0 ? ' ' : list}] } `;
        assert.deepEqual(
          itemsOf(text, pieceBytes),
          items.map(([, value]) => value.toWellFormed()),
        );
        assert.equal(scan(text)?.otherNames.length, members.length);
      },
    ),
  );
});

test('arrays elsewhere are not the messages', () => {
  for (const text of [
    '[[1,2]]',
    '[{"messages":[1]}]',
    '{"other":[1,2],"x":{"messages":[3]}}',
    '{"messages":{"messages":[1]}}',
    '{"messages":"[1]"}',
  ])
    assert.deepEqual(itemsOf(text), [], text);
  assert.deepEqual(itemsOf('{"messages":[[1],{"messages":[2]}],"other":[3]}'), [
    '[1]',
    '{"messages":[2]}',
  ]);
});

test('a body that is only nesting takes a bit of memory for each level', () => {
  const levels = 200_000;
  assert.equal(isJson('['.repeat(levels) + ']'.repeat(levels)), true);
  assert.ok(scan('['.repeat(levels) + ']'.repeat(levels)));
  assert.equal(scan(`${'['.repeat(levels)}}${']'.repeat(levels - 1)}`), undefined);
  assert.equal(scan(`${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`)?.isObject, false);
});

test('scanning stops one item after the limit', () => {
  const scanner = new BatchScanner(Buffer.from('{"messages":[1,2,3,4,]'), 2);
  assert.equal(scanner.scan(1_000), true);
  assert.equal(scanner.hasTooMany, true);
  const within = new BatchScanner(Buffer.from('{"messages":[1,2]}'), 2);
  assert.equal(within.scan(1_000), true);
  assert.equal(within.hasTooMany, false);
});
