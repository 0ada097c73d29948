import { type TSchema, Type } from 'typebox';

/** Unknown members are named instead of being passed over. */
export const strict = { additionalProperties: false } as const;

/** A moment (RFC 3339). */
export function Time(description: string) {
  return Type.String({ format: 'date-time', description });
}

/** A moment that callers give. */
export function TimeOrDay(description: string) {
  return Type.Union([Type.String({ format: 'date-time' }), Type.String({ format: 'date' })], {
    description: `${description} A day alone means its beginning in UTC.`,
  });
}

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/**
 * An object whose members are named by data, such as personalization values.
 * @param maxLength characters of each
 */
export function Texts(description: string, maxLength?: number) {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string', ...(maxLength !== undefined && { maxLength }) },
    description,
  });
}

export const Uuid = Type.String({ format: 'uuid' });
