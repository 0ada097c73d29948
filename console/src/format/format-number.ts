const whole = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

/** In the person's own manner of writing numbers. */
export function formatNumber(value: number): string {
  return whole.format(value);
}

/** A number that was counted so far and may be more. */
export function formatAtLeast(value: number, more: boolean): string {
  return more ? `${formatNumber(value)}+` : formatNumber(value);
}

/** A part of a whole; a dash where there is no whole. */
export function formatShare(part: number, total: number): string {
  return total === 0 ? '–' : percent.format(part / total);
}

/** Milliseconds in the unit that a person would choose. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${precise.format(durationMs)} ms`;
  if (durationMs < 60_000) return `${precise.format(durationMs / 1_000)} s`;
  if (durationMs < 3_600_000) return `${precise.format(durationMs / 60_000)} min`;
  return `${precise.format(durationMs / 3_600_000)} h`;
}

/** Octets in the unit that a person would choose. */
export function formatSize(octets: number): string {
  if (octets < 1_024) return `${whole.format(octets)} B`;
  if (octets < 1_048_576) return `${precise.format(octets / 1_024)} KiB`;
  return `${precise.format(octets / 1_048_576)} MiB`;
}
