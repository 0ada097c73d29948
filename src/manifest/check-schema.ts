import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { describeFormat, describeUnion, reduceUnionErrors } from './describe-union.ts';
import { makeUniqueItemsLinear } from './linear-unique-items.ts';
import type { ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';
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
    message: describe(error),
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

function describe(error: ErrorObject): string {
  const schema = error.parentSchema as Record<string, unknown>;
  const { limit, type } = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties':
      return `is unknown; allowed members are ${Object.keys(schema.properties as object).join(', ')}`;
    case 'required':
      return 'is required';
    case 'type':
      return describeType(String(type), error.data);
    case 'anyOf':
      return describeUnion(error.schema as readonly Record<string, unknown>[]);
    case 'enum':
      return `must be one of ${(schema.enum as unknown[]).join(', ')}`;
    case 'pattern':
      return String(schema.patternErrorMessage ?? 'has an invalid format');
    case 'format':
      return `must be ${describeFormat(error.schema)}`;
    case 'minLength':
      return limit === 1 ? 'is empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return error.propertyName === undefined
        ? `must have at most ${limit} characters`
        : `has a name longer than ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'maxProperties':
      return `must have at most ${limit} members`;
    case 'uniqueItems':
      return 'contains a duplicate entry';
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    default:
      return error.message ?? 'is not valid';
  }
}

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
