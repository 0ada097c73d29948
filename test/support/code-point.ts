import fc from 'fast-check';

const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * Any code point except halves of surrogate pairs, as a unit of `fc.string`. The library's own `binary` unit lists all million
 * of them in each process.
 */
export const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - surrogates })
  .map(
    (value) => String.fromCodePoint(value < firstSurrogate ? value : value + surrogates),
    readCodePoint,
  );

function readCodePoint(text: unknown): number {
  const value = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (value === undefined || String.fromCodePoint(value) !== text)
    throw new Error('not a code point');
  if (value < firstSurrogate) return value;
  if (value < firstSurrogate + surrogates) throw new Error('half of a surrogate pair');
  return value - surrogates;
}
