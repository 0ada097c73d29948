import { type RawBuilder, sql } from 'kysely';

/**
 * Format of the time-to-delivery histograms in `report_latency`: for each non-empty step, in order, a two-byte step and
 * a four-byte count (big-endian). `addHistograms` decodes the same format.
 */

/** Packs the columns `step` and `count`, one row per step, into a histogram. */
export const packSteps = sql`
  string_agg(int2send(step::smallint) || int4send(count::integer), ''::bytea order by step)`;

/** The first step of times from delivery to the use of a guarded link, after those to delivery in the same histogram. */
export const firstWaitStep = 16_384;

const stepBytes = 6;

/** Unpacks concatenated histograms into the columns `step` and `count`. */
export function unpackSteps(histograms: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select (get_byte(h, i) << 8) | get_byte(h, i + 1) as step,
      (get_byte(h, i + 2) << 24) | (get_byte(h, i + 3) << 16) | (get_byte(h, i + 4) << 8) | get_byte(h, i + 5) as count
    from (values (${histograms})) as packed (h)
    cross join lateral generate_series(0, length(h) - ${sql.lit(stepBytes)}, ${sql.lit(stepBytes)}) as i`;
}

export function sumHistograms(
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select ${packSteps}
    from (select step, sum(count) as count from (${unpackSteps(sql`${one} || ${other}`)}) as steps group by 1) as summed)`;
}
