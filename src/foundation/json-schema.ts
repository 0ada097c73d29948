import { type TSchema, Type } from 'typebox';

/** A moment (RFC 3339). */
export function Time(description: string) {
  return Type.String({ format: 'date-time', description });
}

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export const Uuid = Type.String({ format: 'uuid', maxLength: 36 });

/** Times are written by JSON itself. */
export type Wire<Value> = Value extends string
  ? Value | (string extends Value ? Date : never)
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Wire<Value[Name]> }
      : Value;
