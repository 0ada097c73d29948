import { sql } from 'kysely';
import type { Kysely } from './open-database.ts';

/*
 * Tags that run the statement they are given, each for one shape of result: `firstRow<Person>(kysely)`select …``. Values
 * and fragments go into it as into `sql`.
 */

type Statement<Result> = (
  texts: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<Result>;

/** Runs a statement for all its rows. */
export function allRows<Row>(kysely: Kysely): Statement<Row[]> {
  return async (texts, ...values) => (await sql<Row>(texts, ...values).execute(kysely)).rows;
}

/** Runs a statement for its first row; undefined if it has none. */
export function firstRow<Row>(kysely: Kysely): Statement<Row | undefined> {
  return async (texts, ...values) => (await allRows<Row>(kysely)(texts, ...values))[0];
}

/** Runs a statement for whether it has a row: found, or returned by a change. */
export function hasRow(kysely: Kysely): Statement<boolean> {
  return async (texts, ...values) => (await allRows(kysely)(texts, ...values)).length > 0;
}

/** Runs a statement for its effect. */
export function run(kysely: Kysely): Statement<void> {
  return async (texts, ...values) => {
    await sql(texts, ...values).execute(kysely);
  };
}

/** Runs a statement for the only column of all its rows. */
export function valuesOf<Value>(kysely: Kysely): Statement<Value[]> {
  return async (texts, ...values) => {
    const rows = await allRows<Readonly<Record<string, Value>>>(kysely)(texts, ...values);
    return rows.flatMap((row) => Object.values(row));
  };
}

/** Runs a statement for the only column of its first row; undefined if it has none. */
export function firstValue<Value>(kysely: Kysely): Statement<Value | undefined> {
  return async (texts, ...values) => {
    const row = await firstRow<Readonly<Record<string, Value>>>(kysely)(texts, ...values);
    return row && Object.values(row)[0];
  };
}

/** Runs a statement for how many rows it inserted, updated or deleted. */
export function countChanged(kysely: Kysely): Statement<number> {
  return async (texts, ...values) => {
    const { numAffectedRows = 0n } = await sql(texts, ...values).execute(kysely);
    return Number(numAffectedRows);
  };
}
