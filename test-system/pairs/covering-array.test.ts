import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CoveredOptions, coverPairs, OptionSpace } from './covering-array.ts';

const letters = (count: number): { values: string[] } => ({
  values: Array.from({ length: count }, (_, n) => String.fromCharCode(97 + n)),
});

const table: readonly {
  readonly what: string;
  readonly options: CoveredOptions;
  readonly inTriples?: readonly string[];
  /** What a good array of this size needs. */
  readonly max: number;
  /** Combinations that no case can have, because of a third option. */
  readonly impossible?: number;
}[] = [
  { what: 'two options', options: { x: letters(3), y: letters(4) }, max: 12 },
  {
    what: 'ten switches',
    options: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`o${n}`, letters(2)])),
    max: 10,
  },
  {
    what: 'ten switches in triples',
    options: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`o${n}`, letters(2)])),
    inTriples: Array.from({ length: 10 }, (_, n) => `o${n}`),
    max: 24,
  },
  {
    what: 'options of different sizes',
    options: { x: letters(7), y: letters(5), z: letters(3), w: letters(2), v: letters(2) },
    inTriples: ['z', 'w', 'v'],
    max: 42,
  },
  {
    what: 'values that exclude each other',
    options: {
      door: { values: ['http', 'smtp'], excludes: { smtp: { version: ['due'] } } },
      version: letters(2),
      more: { values: ['due', 'none'], excludes: { due: { version: ['a'] } } },
    },
    max: 6,
  },
  {
    what: 'values that only a third option excludes',
    options: {
      x: { values: ['a', 'b'], excludes: { a: { z: ['a'] } } },
      y: { values: ['a', 'b'], excludes: { a: { z: ['b'] } } },
      z: letters(2),
    },
    max: 4,
    impossible: 1,
  },
  {
    what: 'a value that ends a message',
    options: {
      event: { values: ['none', 'canceled'], ending: ['canceled'] },
      end: { values: ['none', 'passed'], ending: ['passed'] },
      x: letters(3),
      y: letters(3),
    },
    max: 15,
  },
];

for (const { what, options, inTriples = [], max, impossible = 0 } of table)
  test(`all combinations are covered: ${what}`, () => {
    const space = new OptionSpace(options);
    for (const seed of [1, 2, 3]) {
      const cases = coverPairs(options, inTriples, seed);
      assert.deepEqual(coverPairs(options, inTriples, seed), cases);
      const missing = space
        .combinations(inTriples)
        .filter((combination) => !cases.some((one) => space.covers(one, combination)));
      assert.equal(missing.length, impossible, JSON.stringify(missing));
      for (const one of cases) {
        assert.deepEqual(Object.keys(one).toSorted(), Object.keys(options).toSorted());
        assert.ok(space.isAllowed(one), JSON.stringify(one));
      }
      assert.ok(cases.length <= max, `${cases.length} cases`);
    }
  });

test('two values that end a message are in no case together, and such a case covers only pairs of that value', () => {
  const space = new OptionSpace(table.at(-1)?.options ?? {});
  const both = { event: 'canceled', end: 'passed' };
  assert.equal(space.isAllowed(both), false);
  const canceled = { event: 'canceled', end: 'none', x: 'a', y: 'b' };
  const pair = (...names: ('event' | 'x' | 'y')[]) =>
    names.map((name) => [name, canceled[name]] as const);
  assert.equal(space.covers(canceled, pair('event', 'x')), true);
  assert.equal(space.covers(canceled, pair('x', 'y')), false);
});
