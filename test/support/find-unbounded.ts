type Schema = Readonly<Record<string, unknown>>;

const plainTypes = new Set(['integer', 'number', 'boolean', 'null']);

/** Finds values whose size a schema doesn't limit: one line per place, with the missing keyword. */
export function findUnbounded(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, ...rest } = schema as Schema;
  if (rest.enum !== undefined || rest.const !== undefined) return [];
  if (Array.isArray(type))
    return type.flatMap((one) => findUnbounded({ ...rest, type: one }, path));
  const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(rest[name]));
  if (alternatives.length > 0)
    return alternatives.flatMap((one, index) => findUnbounded(one, `${path}|${index}`));
  switch (type) {
    case 'string':
      return rest.maxLength === undefined && !isBounded(rest.pattern) ? [`${path}: maxLength`] : [];
    case 'array':
      return [
        ...(rest.maxItems === undefined ? [`${path}: maxItems`] : []),
        ...findUnbounded(rest.items, `${path}[]`),
      ];
    case 'object':
      return findInObject(rest, path);
    default:
      return plainTypes.has(String(type)) ? [] : [`${path}: type`];
  }
}

function findInObject(schema: Schema, path: string): string[] {
  const found = Object.entries((schema.properties ?? {}) as Schema).flatMap(([name, member]) =>
    findUnbounded(member, `${path}.${name}`),
  );
  const { additionalProperties: others } = schema;
  if (others === false) return found;
  if (schema.maxProperties === undefined) found.push(`${path}: maxProperties`);
  if (schema.propertyNames === undefined) found.push(`${path}: propertyNames`);
  found.push(...findUnbounded(schema.propertyNames, `${path} names`));
  if (typeof others === 'object') found.push(...findUnbounded(others, `${path}{}`));
  else found.push(`${path}: additionalProperties`);
  return found;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** True for an anchored pattern without unlimited repetition. */
function isBounded(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || !pattern.startsWith('^') || !pattern.endsWith('$'))
    return false;
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/[*+]|\{\d+,\}/.test(bare);
}
