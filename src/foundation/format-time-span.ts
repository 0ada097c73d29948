const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A time span in its largest unit: `3 hours`. */
export function formatTimeSpan(ms: number): string {
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? units[3];
  const count = Math.floor(Math.max(0, ms) / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
