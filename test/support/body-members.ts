import type { TSchema } from 'typebox';
import { schemas, shape } from '../../src/drop-in/provider/members.ts';

/** A member with a schema of its own. @param note such as `becomes an attribute` */
export function mapped<Schema extends TSchema>(schema: Schema, note: string) {
  return { ...shape(schema), note };
}

export function supported<Schema extends TSchema>(schema: Schema) {
  return mapped(schema, '');
}

/** @param note such as `isn’t supported` */
export function refused(note: string) {
  return mapped(schemas.never, note);
}
