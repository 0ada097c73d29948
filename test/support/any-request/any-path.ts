import fc from 'fast-check';
import { pathParams } from '../../../src/operating/management/path-params.ts';
import { anyValue, type JsonSchema } from './any-value.ts';

/** Existing values for each path parameter. */
export type Names = Readonly<Record<string, readonly string[]>>;

const schemas = new Map(
  Object.entries(pathParams).map(([name, { schema }]) => [name, schema as object as JsonSchema]),
);

const hostile = [
  '%',
  '%zz',
  '%00',
  '%2F',
  '%2e%2e%2f%2e%2e',
  '..',
  '%ff%fe',
  '%ed%a0%80',
  '\xe9',
  '*',
  ':accountId',
  '__proto__',
  '.system',
  'null',
  '-1',
  "'--",
  'a'.repeat(300),
  '%41'.repeat(3_000),
  'a'.repeat(12_000),
];

/** A route's path with a value for each parameter: an existing one, a valid one or an impossible one. */
export function anyPath(path: string, names: Names): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return anySegments(names);
    const [, param] = /^:(\w+)$/.exec(segment) ?? [];
    return param === undefined ? fc.constant(segment) : anyParam(param, names);
  });
  const trailing = fc.oneof(
    { arbitrary: fc.constant(''), weight: 20 },
    { arbitrary: fc.constantFrom('/', '//', '/x'), weight: 1 },
  );
  return fc.tuple(...segments, trailing).map((parts) => {
    const end = parts.pop();
    return `${parts.join('/')}${end}`;
  });
}

function anyParam(param: string, names: Names): fc.Arbitrary<string> {
  const known = names[param] ?? [];
  const might = (schemas.has(param) ? anyValue(schemas.get(param) ?? {}) : fc.string()).map(
    (value) => encodeURIComponent(String(value).toWellFormed()),
  );
  const options = [
    { arbitrary: might, weight: 2 },
    { arbitrary: fc.constantFrom(...hostile), weight: 1 },
  ];
  if (known.length > 0)
    options.unshift({ arbitrary: fc.constantFrom(...known.map(encodeURIComponent)), weight: 8 });
  return fc.oneof(...options);
}

/** Replaces a `*`: an account and one of its templates, or anything. */
function anySegments(names: Names): fc.Arbitrary<string> {
  return fc
    .tuple(anyParam('accountId', names), anyParam('templateId', names))
    .map((parts) => parts.join('/'));
}

/** A query string: valid for its schema, mutated, or with unknown parameters. */
export function anyQuery(schema: JsonSchema | undefined): fc.Arbitrary<string> {
  const junk = fc.constantFrom(
    'x=1',
    'limit=1&limit=2',
    'limit=-1',
    'limit=99999999999999999999',
    'cursor=%00',
    'cursor=AAAA',
    'cursor=eyJhIjoxfQ',
    'from=9999-99-99',
    'from=2026-01-01&to=1026-01-01',
    '__proto__=1&constructor=2',
    'a[b]=c',
    '%',
    '%ff=%fe',
    `q=${'x'.repeat(4_000)}`,
    'q=%ed%a0%80',
    'q=%00',
    `${'a=1&'.repeat(1_500)}`,
  );
  const empty = fc.constant('');
  if (schema === undefined) return fc.oneof({ arbitrary: empty, weight: 8 }, junk);
  const allowed = anyValue(schema).map((query) =>
    Object.entries(query as object)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`)
      .join('&'),
  );
  const mixed = fc.tuple(allowed, junk).map((parts) => parts.join('&'));
  return fc.oneof(empty, { arbitrary: allowed, weight: 3 }, mixed, junk);
}
