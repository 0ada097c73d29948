/** Bytes in the largest fitting unit, for example `3.4 TiB`. */
export function formatStorage(bytes: number): string {
  const units = ['MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes / 1_048_576;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
