/** `http://127.0.0.1` or `http://[::1]`, a port or none, and the rest. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/s;

/**
 * True where the redirect URL of a request is the registered one: the same characters. Only the port of a registered
 * loopback address may differ, since native programs take a free one (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(sent: string, registered: string): boolean {
  if (sent === registered) return true;
  const [theirs, ours] = [loopback.exec(sent), loopback.exec(registered)];
  const fits = theirs !== null && ours !== null && theirs[1] === ours[1] && theirs[2] === ours[2];
  return fits && URL.canParse(sent);
}

/** The redirect URL with parameters added to its query (RFC 6749 section 4.1.2), fit for a Location header. */
export function withParameters(
  redirectUri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.append(name, value);
  const separator = redirectUri.includes('?') ? '&' : '?';
  return `${redirectUri.replace(/[^\x21-\x7e]/gu, encodeURIComponent)}${separator}${query}`;
}

/**
 * What names the redirect's target in the form-action of a Content-Security-Policy: its origin, or its scheme where
 * that is no origin there (programs' own schemes; IPv6 addresses, which the policy's grammar lacks).
 */
export function formActionSource(redirectUri: string): string {
  const url = new URL(redirectUri);
  const hasOrigin = url.protocol === 'http:' || url.protocol === 'https:';
  return hasOrigin && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}
