/** The browser and operating system, as claimed by the User-Agent header. */
export function browserName(userAgent: string): string {
  const family = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1];
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Chrome: 'Chromium' };
  if (family === undefined) return 'Unknown browser';
  return `${names[family] ?? family}${system === undefined ? '' : ` on ${system}`}`;
}
