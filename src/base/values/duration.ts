const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of `30s`, `5m`, `24h` or `7d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? 0);
  return seconds > 0 ? seconds : undefined;
}
