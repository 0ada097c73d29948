/**
 * Escapes percent signs in a path that can't be decoded, so that it reaches its route and gets an error in that route's
 * order of checks.
 */
export function escapeMalformedPercent(url: string): string {
  if (!url.includes('%')) return url;
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
