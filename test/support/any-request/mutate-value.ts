import fc from 'fast-check';

/** Values that most schemas reject. */
const hostile: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e308,
  2 ** 53,
  '',
  '\0',
  'a\0b',
  '\ud800',
  '\udc00x',
  '\r\nBcc: x@evil.test',
  "'; drop table account; --",
  '{{#A}}{{/B}}',
  '../../etc/passwd',
  'x'.repeat(10_000),
  [],
  {},
  [[[[[[]]]]]],
  Array.from({ length: 300 }, () => 'x'),
  JSON.parse('{"__proto__": {"admin": true}, "constructor": 1, "toString": null}'),
];

export type Change = (value: unknown) => unknown;

/** A change that usually makes a value invalid for its schema. */
export const anyChange: fc.Arbitrary<Change> = fc
  .tuple(
    fc.nat({ max: 40 }),
    fc.constantFrom('replace', 'remove', 'add', 'repeat'),
    fc.constantFrom(...hostile),
    fc.constantFrom('extra', '__proto__', 'constructor', '\0', '\ud800', 'x'.repeat(2_000)),
  )
  .map(
    ([at, how, other, name]) =>
      (value: unknown) =>
        changeAt(value, at, how, other, name),
  );

type How = 'replace' | 'remove' | 'add' | 'repeat';

/** Changes the value at a position, found by descending into the members. */
function changeAt(value: unknown, at: number, how: How, other: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return other;
  const entries = Object.entries(value);
  const chosen = entries[at % Math.max(1, entries.length)];
  const deeper = Math.floor(at / (entries.length + 1));
  if (Array.isArray(value)) {
    if (how === 'repeat') return [...value, ...value, other];
    if (chosen === undefined || how === 'add') return [...value, other];
    if (how === 'remove') return value.slice(1);
    return value.with(Number(chosen[0]), changeAt(chosen[1], deeper, how, other, name));
  }
  if (how === 'add' || chosen === undefined) return withMember(value, name, other);
  if (how === 'remove') return Object.fromEntries(entries.filter((entry) => entry !== chosen));
  const inner = deeper > 0 ? changeAt(chosen[1], deeper, how, other, name) : other;
  return withMember(value, chosen[0], inner);
}

/** Adds a member as JSON.parse does, even if its name is `__proto__`. */
function withMember(value: object, name: string, member: unknown): object {
  const copy = Object.fromEntries(Object.entries(value));
  const property = { value: member, enumerable: true, writable: true, configurable: true };
  return Object.defineProperty(copy, name, property);
}
