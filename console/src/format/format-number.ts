import { formatterOf } from './formats.ts';

const whole = formatterOf((locale) => new Intl.NumberFormat(locale));
const percent = formatterOf((locale) => new Intl.NumberFormat(locale, { style: 'percent' }));
const precisePercent = formatterOf(
  (locale) =>
    new Intl.NumberFormat(locale, {
      style: 'percent',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    }),
);
const precise = formatterOf(
  (locale) => new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }),
);

/** A number in the person's formats. */
export function formatNumber(value: number): string {
  return whole().format(value);
}

/** A lower bound, such as "100+". */
export function formatAtLeast(value: number, more: boolean): string {
  return more ? `${formatNumber(value)}+` : formatNumber(value);
}

/** A ratio in whole percent. */
export function formatPercent(ratio: number): string {
  return percent().format(ratio);
}

/** A percentage with one decimal, unless it is none or all; a dash if the total is zero. */
export function formatShare(part: number, total: number): string {
  if (total === 0) return '–';
  return part === 0 || part === total
    ? formatPercent(part / total)
    : precisePercent().format(part / total);
}

/** A duration in milliseconds, in a suitable unit. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${precise().format(durationMs)} ms`;
  if (durationMs < 60_000) return `${precise().format(durationMs / 1_000)} s`;
  if (durationMs < 3_600_000) return `${precise().format(durationMs / 60_000)} min`;
  return `${precise().format(durationMs / 3_600_000)} h`;
}

/** A size in bytes, in a suitable unit. */
export function formatSize(octets: number): string {
  if (octets < 1_024) return `${whole().format(octets)} B`;
  if (octets < 1_048_576) return `${precise().format(octets / 1_024)} KiB`;
  return `${precise().format(octets / 1_048_576)} MiB`;
}
