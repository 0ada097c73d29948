import { Ajv, type ErrorObject } from 'ajv';
import { describeUnion, withoutAlternatives } from './describe-union.ts';
import { makeUniqueItemsLinear } from './linear-unique-items.ts';
import type { ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';
import { ManifestSchema, type RawManifest } from './manifest-schema.ts';
import { removeInvalidEntries } from './remove-invalid-entries.ts';

/**
 * Checks a value against the manifest's schema and adds what breaks it, in the words of a person.
 * @returns the value without the entries and members of accounts that break the schema, so that the rest can be looked into;
 *   undefined where it is no list of accounts
 */
export function checkSchema(value: unknown, problems: ProblemCollector): RawManifest | undefined {
  const ajv = makeUniqueItemsLinear(
    new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }),
  );
  ajv.addVocabulary(['patternErrorMessage']);
  const check = ajv.compile<RawManifest>(ManifestSchema);
  if (check(value)) return value;
  const errors = describeSchemaErrors(check.errors ?? [], value);
  for (const { path, message } of errors) problems.add(path, message);
  return removeInvalidEntries(
    value,
    errors.map(({ path }) => path),
  );
}

/**
 * What breaks a schema, in the words of a person. The errors must be verbose, and all of them.
 * @param max how many of them to describe; thousands take tens of milliseconds
 */
export function describeSchemaErrors(
  errors: readonly ErrorObject[],
  value: unknown,
  max?: number,
): { readonly path: ManifestPath; readonly message: string }[] {
  // What is wrong with a name is said by the error inside it.
  // Each union is compared with all errors. Those of its alternatives stand beside it.
  const inspected = max === undefined ? errors : errors.slice(0, 20 * max);
  const reported = withoutAlternatives(inspected).filter(
    ({ keyword }) => keyword !== 'propertyNames',
  );
  return reported.slice(0, max).map((error) => ({
    path: pathOf(error, value),
    message: describe(error),
  }));
}

/** A JSON Pointer (RFC 6901) as a path; a step into a list becomes a number. */
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
  object: 'a group of members',
};

function describe(error: ErrorObject): string {
  const schema = error.parentSchema as Record<string, unknown>;
  const { limit, type } = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties':
      return `is not part of the format; known here are ${Object.keys(schema.properties as object).join(', ')}`;
    case 'required':
      return 'is missing';
    case 'type':
      return describeType(String(type), error.data);
    case 'anyOf':
      return describeUnion(error.schema as readonly Record<string, unknown>[]);
    case 'enum':
      return `must be one of ${(schema.enum as unknown[]).join(', ')}`;
    case 'pattern':
      return String(schema.patternErrorMessage ?? 'has not the form that it must have');
    case 'minLength':
      return limit === 1 ? 'is empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return error.propertyName === undefined
        ? `must have at most ${limit} characters`
        : `has a name of more than ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'maxProperties':
      return `must have at most ${limit} members`;
    case 'uniqueItems':
      return 'has an entry twice';
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function describeType(type: string, data: unknown): string {
  const wanted = typeNames[type] ?? type;
  if (data === null) return `is empty; it must be ${wanted}`;
  if (type === 'string' && (typeof data === 'number' || typeof data === 'boolean'))
    return 'must be text: put it in quotes';
  return `must be ${wanted}`;
}
