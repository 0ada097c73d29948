import type { ErrorObject } from 'ajv';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Reduces the errors of a union (anyOf): if exactly one alternative has the type of the value (object or list), reports
 * that one's errors; otherwise the union's own error, because errors of different alternatives contradict each other.
 * Needs Ajv's option `allErrors`.
 */
export function reduceUnionErrors(errors: readonly ErrorObject[]): ErrorObject[] {
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
export function describeUnion(alternatives: readonly Schema[]): string {
  return `must be ${alternatives.map(describeAlternative).join(', or ')}`;
}

/** Names a format of strings, such as "a UUID". */
export function describeFormat(format: unknown): string {
  switch (format) {
    case 'uuid':
      return 'a UUID';
    case 'date':
      return 'a date such as 2026-01-31';
    case 'date-time':
      return 'a time such as 2026-01-31T12:00:00Z';
    default:
      return `text in the format ${format}`;
  }
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
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'object':
      return describeMembers(schema);
    default:
      return String(schema.type);
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
