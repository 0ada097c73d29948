import { type RawBuilder, sql } from 'kysely';

/**
 * Histograms of times to delivery as `report_latency` holds them: for each step that has any, in the order of the steps, the
 * step in two bytes and the count in four (big-endian). `addHistograms` reads them in code.
 */

/** Aggregates the columns `step` and `count`, one row for each step, to a histogram. */
export const packSteps = sql`
  string_agg(int2send(step::smallint) || int4send(count::integer), ''::bytea order by step)`;

const stepBytes = 6;

/** The columns `step` and `count` of histograms that stand one after the other in a value. */
export function unpackSteps(histograms: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select (get_byte(h, i) << 8) | get_byte(h, i + 1) as step,
      (get_byte(h, i + 2) << 24) | (get_byte(h, i + 3) << 16) | (get_byte(h, i + 4) << 8) | get_byte(h, i + 5) as count
    from (values (${histograms})) as packed (h)
    cross join lateral generate_series(0, length(h) - ${sql.lit(stepBytes)}, ${sql.lit(stepBytes)}) as i`;
}

/** The sum of two histograms. */
export function sumHistograms(
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select ${packSteps}
    from (select step, sum(count) as count from (${unpackSteps(sql`${one} || ${other}`)}) as steps group by 1) as summed)`;
}
