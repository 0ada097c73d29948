/** `http://127.0.0.1` or `http://[::1]` with an optional port, and the rest. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/s;

/**
 * True if the redirect URL of a request matches the registered one exactly. Only the port of a registered loopback
 * address may differ, since native apps listen on any free port (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(sent: string, registered: string): boolean {
  if (sent === registered) return true;
  const [theirs, ours] = [loopback.exec(sent), loopback.exec(registered)];
  const fits = theirs !== null && ours !== null && theirs[1] === ours[1] && theirs[2] === ours[2];
  return fits && URL.canParse(sent);
}

/**
 * Adds parameters to the query of a redirect URL (RFC 6749 section 4.1.2); the result is valid in a Location header.
 */
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
 * The source expression for a redirect's target in the form-action of a Content-Security-Policy: its origin, or its
 * scheme if it has no valid origin there (custom schemes; IPv6 addresses, which the policy's grammar lacks).
 */
export function formActionSource(redirectUri: string): string {
  const url = new URL(redirectUri);
  const hasOrigin = url.protocol === 'http:' || url.protocol === 'https:';
  return hasOrigin && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}
