import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { ManifestPath, ProblemCollector } from './manifest-problems.ts';
import { ManifestSchema, type RawManifest } from './manifest-schema.ts';

let check: ValidateFunction<RawManifest> | undefined;

/**
 * Validates a value against the manifest schema and reports readable problems.
 * @returns the value without invalid entries and members of accounts, so the rest can still be checked; undefined
 * without a list of accounts
 */
export function checkSchema(value: unknown, problems: ProblemCollector): RawManifest | undefined {
  // Compiling takes longer than checking hundreds of manifests, and few commands need it.
  check ??= compileSchema();
  if (check(value)) return value;
  const errors = describeSchemaErrors(check.errors ?? [], value);
  for (const { path, message } of errors) problems.add(path, message);
  return removeInvalidEntries(
    value,
    errors.map(({ path }) => path),
  );
}

function compileSchema(): ValidateFunction<RawManifest> {
  const ajv = makeUniqueItemsLinear(
    new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }),
  );
  ajv.addVocabulary(['patternErrorMessage']);
  return ajv.compile<RawManifest>(ManifestSchema);
}

/**
 * Describes schema errors in readable form. Requires the `verbose` and `allErrors` options.
 * @param max how many to describe; thousands take tens of milliseconds
 */
export function describeSchemaErrors(
  errors: readonly ErrorObject[],
  value: unknown,
  max?: number,
): { readonly path: ManifestPath; readonly message: string }[] {
  // Errors of a union's alternatives are siblings of its own error, so each union needs all errors. An error about a
  // name comes with an inner one that describes it, so `propertyNames` is dropped.
  const inspected = max === undefined ? errors : errors.slice(0, 20 * max);
  const reported = reduceUnionErrors(inspected).filter(
    ({ keyword }) => keyword !== 'propertyNames',
  );
  return reported.slice(0, max).map((error) => ({
    path: pathOf(error, value),
    message: messages[error.keyword]?.(error) ?? error.message ?? 'is not valid',
  }));
}

/** Converts a JSON Pointer (RFC 6901) to a path; list indexes become numbers. */
function pathOf(error: ErrorObject, value: unknown): ManifestPath {
  const steps = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { additionalProperty, missingProperty } = error.params as Record<string, unknown>;
  for (const last of [additionalProperty, missingProperty]) {
    if (typeof last === 'string') steps.push(last);
  }
  const path: (string | number)[] = [];
  let inside = value;
  for (const step of steps) {
    path.push(Array.isArray(inside) ? Number(step) : step);
    inside = (inside as Record<string, unknown> | undefined)?.[step];
  }
  return path;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'a whole number',
  array: 'a list',
  object: 'an object',
};

const countOf = (limit: number): string => `${limit} ${limit === 1 ? 'entry' : 'entries'}`;

/** What the errors of each keyword say. */
const messages: Readonly<Record<string, (error: ErrorObject) => string>> = {
  additionalProperties: ({ parentSchema }) =>
    `is unknown; allowed members are ${Object.keys(parentSchema?.properties).join(', ')}`,
  required: () => 'is required',
  type: ({ params: { type }, data }) => describeType(String(type), data),
  anyOf: ({ schema }) => describeUnion(schema as readonly Schema[]),
  enum: ({ parentSchema }) => `must be one of ${parentSchema?.enum.join(', ')}`,
  pattern: ({ parentSchema }) =>
    String(parentSchema?.patternErrorMessage ?? 'has an invalid format'),
  format: ({ schema }) => `must be ${describeFormat(schema)}`,
  minLength: ({ params: { limit } }) =>
    limit === 1 ? 'is empty' : `must have at least ${limit} characters`,
  maxLength: ({ params: { limit }, propertyName }) =>
    propertyName === undefined
      ? `must have at most ${limit} characters`
      : `has a name longer than ${limit} characters`,
  minItems: ({ params: { limit } }) => `must have at least ${countOf(limit)}`,
  maxItems: ({ params: { limit } }) => `must have at most ${countOf(limit)}`,
  maxProperties: ({ params: { limit } }) => `must have at most ${limit} members`,
  uniqueItems: () => 'contains a duplicate entry',
  minimum: ({ params: { limit } }) => `must be at least ${limit}`,
  maximum: ({ params: { limit } }) => `must be at most ${limit}`,
};

function describeType(type: string, data: unknown): string {
  const expected = typeNames[type] ?? type;
  if (data === null) return `is empty; it must be ${expected}`;
  if (type === 'string' && (typeof data === 'number' || typeof data === 'boolean'))
    return 'must be text: put it in quotes';
  return `must be ${expected}`;
}

type Members = Record<string, unknown>;

/**
 * Removes the invalid list entries and other members of accounts from a manifest. Lists get holes, so the other entries keep
 * their index.
 * @param invalidPaths all paths with schema errors
 * @returns undefined without a list of accounts
 */
function removeInvalidEntries(
  value: unknown,
  invalidPaths: readonly ManifestPath[],
): RawManifest | undefined {
  const remaining = structuredClone(value) as { accounts: Members[] };
  if (invalidPaths.some(([top, account]) => top === 'accounts' && account === undefined))
    return undefined;
  if (!Array.isArray(remaining?.accounts)) return undefined;
  for (const [top, account, member, entry] of invalidPaths) {
    if (top !== 'accounts' || typeof account !== 'number') continue;
    const inside = remaining.accounts[account];
    if (member === undefined) delete remaining.accounts[account];
    else if (inside !== undefined) drop(inside, String(member), entry);
  }
  return remaining as unknown as RawManifest;
}

function drop(account: Members, member: string, entry: string | number | undefined): void {
  const list = account[member];
  if (Array.isArray(list) && typeof entry === 'number') delete list[entry];
  // Both are required; an empty value causes no further problems.
  else if (member === 'id' || member === 'name') account[member] = '';
  else delete account[member];
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * Reduces the errors of a union (anyOf): if exactly one alternative has the type of the value (object or list), reports
 * that one's errors; otherwise the union's own error, because errors of different alternatives contradict each other.
 * Needs Ajv's option `allErrors`.
 */
function reduceUnionErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf')) {
    const inside = errors.filter((error) => isInside(error, union));
    const matching = matchingAlternative(union);
    const relevant = inside.filter(
      (error) => matching !== undefined && error.schemaPath.startsWith(`${matching}/`),
    );
    for (const error of relevant.length > 0 ? [union, ...inside] : inside) {
      if (!relevant.includes(error)) dropped.add(error);
    }
  }
  return errors.filter((error) => !dropped.has(error));
}

function isInside(error: ErrorObject, union: ErrorObject): boolean {
  const sameOrBelow =
    error.instancePath === union.instancePath ||
    error.instancePath.startsWith(`${union.instancePath}/`);
  return error !== union && sameOrBelow;
}

/** The schema path of the only alternative with the type of the value (object or list). */
function matchingAlternative({ data, schema, schemaPath }: ErrorObject): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const type = Array.isArray(data) ? 'array' : 'object';
  const alternatives = schema as readonly Schema[];
  const [index, ...others] = [...alternatives.keys()].filter(
    (at) => alternatives[at]?.type === type,
  );
  return index === undefined || others.length > 0 ? undefined : `${schemaPath}/${index}`;
}

/** Describes a union, such as "must be a whole number from 3 to 400, or null". */
function describeUnion(alternatives: readonly Schema[]): string {
  return `must be ${alternatives.map(describeAlternative).join(', or ')}`;
}

const formatNames: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  date: 'a date such as 2026-01-31',
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
};

/** Names a format of strings, such as "a UUID". */
function describeFormat(format: unknown): string {
  return formatNames[String(format)] ?? `text in the format ${format}`;
}

function describeAlternative(schema: Schema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`;
  if ('const' in schema) return String(schema.const);
  switch (schema.type) {
    case 'integer':
      return `a whole number${describeBounds(schema)}`;
    case 'number':
      return `a number${describeBounds(schema)}`;
    case 'string':
      if (schema.format !== undefined) return describeFormat(schema.format);
      return `text${schema.maxLength === undefined ? '' : ` of at most ${schema.maxLength} characters`}`;
    case 'object':
      return describeMembers(schema);
    default:
      return typeNames[String(schema.type)] ?? String(schema.type);
  }
}

function describeBounds(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum } = schema;
  if (exclusiveMinimum !== undefined) {
    const upperBound = maximum === undefined ? '' : ` and at most ${maximum}`;
    return ` above ${exclusiveMinimum}${upperBound}`;
  }
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

function describeMembers({ properties }: Schema): string {
  const names = Object.keys((properties ?? {}) as object).map((name) => `${name}: …`);
  return names.length === 0 ? 'an object' : `{ ${names.join(', ')} }`;
}

/**
 * Replaces Ajv's `uniqueItems`, which is quadratic unless it knows the item type, so an untrusted list could take seconds.
 * This one is linear, which works because our items are plain values.
 */
export function makeUniqueItemsLinear<Checker extends Ajv>(ajv: Checker): Checker {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (enabled: boolean, items: readonly unknown[]) =>
      !enabled || new Set(items).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  });
  return ajv;
}
