import { type TOptional, type TProperties, type TSchema, Type } from 'typebox';

/** Rejects unknown members instead of ignoring them. */
export const strict = { additionalProperties: false } as const;

/** An object that rejects unknown members. */
export function StrictObject<Members extends TProperties>(members: Members) {
  return Type.Object(members, strict);
}

/** A strict object with its name in the OpenAPI document. */
export function NamedObject<Members extends TProperties>(title: string, members: Members) {
  return Type.Object(members, { ...strict, title });
}

/** An object with its name in the OpenAPI document, to which members may be added. */
export function OpenObject<Members extends TProperties>(title: string, members: Members) {
  return Type.Object(members, { title });
}

/** A strict object with its description. */
export function DescribedObject<Members extends TProperties>(
  description: string,
  members: Members,
) {
  return Type.Object(members, { ...strict, description });
}

/** A string with its description. */
export function Text(description: string, limits: Parameters<typeof Type.String>[0] = {}) {
  return Type.String({ description, ...limits });
}

/** A whole number with its description. */
export function Whole(description: string, limits: Parameters<typeof Type.Integer>[0] = {}) {
  return Type.Integer({ description, ...limits });
}

/** A boolean with its description. */
export function Flag(description: string) {
  return Type.Boolean({ description });
}

/** A timestamp (RFC 3339). */
export function Time(description: string) {
  return Type.String({ format: 'date-time', description });
}

/** A timestamp or day in a request. */
export function TimeOrDay(description: string) {
  return Type.Union(
    [
      Type.String({ format: 'date-time', maxLength: 64 }),
      Type.String({ format: 'date', maxLength: 10 }),
    ],
    { description: `${description} A date alone means midnight UTC.` },
  );
}

/** A text that a request can leave out. */
export function OptionalText(...text: Parameters<typeof Text>) {
  return Type.Optional(Text(...text));
}

/** Members that can be left out. */
export function optional<Members extends TProperties>(members: Members) {
  const entries = Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Object.fromEntries(entries) as { [Name in keyof Members]: TOptional<Members[Name]> };
}

/** A strict object of which every member can be left out. */
export function PartialObject<Members extends TProperties>(members: Members) {
  return StrictObject(optional(members));
}

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** Limits of a string map: member count, name length and value length. */
interface StringMapLimits {
  readonly members: number;
  readonly minNameLength?: number;
  readonly nameLength: number;
  readonly length: number;
}

/** An object with arbitrary member names, such as the columns of a contact. */
export function StringMap(description: string, limits?: StringMapLimits) {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    ...(limits && {
      maxProperties: limits.members,
      propertyNames: {
        type: 'string',
        ...(limits.minNameLength !== undefined && { minLength: limits.minNameLength }),
        maxLength: limits.nameLength,
      },
    }),
    additionalProperties: { type: 'string', ...(limits && { maxLength: limits.length }) },
    description,
  });
}

export const Uuid = Type.String({ format: 'uuid', maxLength: 36 });
