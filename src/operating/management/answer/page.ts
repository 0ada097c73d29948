import { type TProperties, type TSchema, Type } from 'typebox';
import { optional, StrictObject, Text, Whole } from '../../../base/values/common-schemas.ts';
import { invalidField } from './problem.ts';

const maxItems = 500;
const defaultItems = 50;

/** The query of a list: its filters plus cursor and limit. */
export function pageQuery<Filters extends TProperties>(filters: Filters) {
  return StrictObject({
    ...filters,
    ...optional({
      cursor: Text('Opaque cursor from the `nextCursor` of the previous page.', {
        maxLength: 2_000,
      }),
      limit: Whole(`Max items per page. Default ${defaultItems}.`, {
        minimum: 1,
        maximum: maxItems,
      }),
    }),
  });
}

/** A page of a list. */
export function pageOf<Item extends TSchema>(item: Item) {
  return StrictObject({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Cursor of the next page; null on the last page.',
    }),
  });
}

/** The requested page size. */
export function pageSizeOf(query: { readonly limit?: number }): number {
  return query.limit ?? defaultItems;
}

/** The type of a part of a cursor. */
export type CursorPart = 'text' | 'uuid' | 'time' | 'integer';

const cursorPartPatterns: Readonly<Record<CursorPart, RegExp>> = {
  text: /^[^\0]{0,1000}$/u,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  time: /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d){0,2}$/,
  integer: /^\d{1,18}$/,
};

/**
 * Decodes a cursor written by `writeCursor`.
 * @throws Problem if the cursor is invalid
 */
export function readCursor<const Parts extends readonly CursorPart[]>(
  query: { readonly cursor?: string },
  parts: Parts,
): { readonly [Index in keyof Parts]: string } | undefined {
  if (query.cursor === undefined) return undefined;
  const place = decodeCursor(query.cursor, parts);
  if (place === undefined) throw invalidField('cursor', 'isn’t a cursor of this endpoint');
  return place;
}

/** The parts of a cursor; undefined if it is invalid. */
export function decodeCursor<const Parts extends readonly CursorPart[]>(
  cursor: string,
  parts: Parts,
): { readonly [Index in keyof Parts]: string } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (hasParts(value, parts)) return value;
  } catch {
    // Reported by the caller.
  }
  return undefined;
}

function hasParts<Parts extends readonly CursorPart[]>(
  value: unknown,
  parts: Parts,
): value is { readonly [Index in keyof Parts]: string } {
  return (
    Array.isArray(value) &&
    value.length === parts.length &&
    parts.every((part, index) => isPart(value[index], part))
  );
}

function isPart(text: unknown, part: CursorPart): boolean {
  return typeof text === 'string' && cursorPartPatterns[part].test(text) && text.isWellFormed();
}

export function writeCursor(place: readonly string[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** Builds a page from rows read with limit + 1; the extra row means that another page follows. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorOf: (row: Row) => readonly string[],
): { items: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    nextCursor: rows.length > limit && last !== undefined ? writeCursor(cursorOf(last)) : null,
  };
}
