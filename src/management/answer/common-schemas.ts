import { Type } from 'typebox';

export { Nullable, Time, Uuid } from '../../foundation/json-schema.ts';

/** Unknown members are named instead of being passed over. */
export const strict = { additionalProperties: false } as const;

/** A moment that callers give. */
export function TimeOrDay(description: string) {
  return Type.Union(
    [
      Type.String({ format: 'date-time', maxLength: 64 }),
      Type.String({ format: 'date', maxLength: 10 }),
    ],
    {
      description: `${description} A day alone means its beginning in UTC.`,
    },
  );
}

/** How many members an object of texts has at most, and how long their names and values are. */
export interface StringMapLimits {
  readonly members: number;
  readonly nameLength: number;
  readonly length: number;
}

/** An object whose members are named by data, such as the columns of a contact. */
export function StringMap(description: string, limits?: StringMapLimits) {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    ...(limits && {
      maxProperties: limits.members,
      propertyNames: { type: 'string', maxLength: limits.nameLength },
    }),
    additionalProperties: { type: 'string', ...(limits && { maxLength: limits.length }) },
    description,
  });
}

/**
 * Values of template fields: as many and as long as the send operation takes.
 * @param maxBytes of all of them together, which the endpoint checks
 */
export function FieldValues(maxBytes: number) {
  return StringMap(`Values by field name, at most ${maxBytes} bytes together.`, {
    members: 1_000,
    nameLength: 1_000,
    length: maxBytes,
  });
}
