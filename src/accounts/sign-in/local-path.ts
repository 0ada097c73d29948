/** Where people go after signing in unless they were on their way to another page. */
const defaultPath = '/console';

/** Only these pages ask people to sign in first, so no other needs to be returned to. */
const allowedPattern = /^\/(?:authorize|me|inbox|console|invitation)(?:[/?]|$)/;

/**
 * Turns untrusted input into a safe path within this service: no scheme, host, `//`, backslashes or control
 * characters can lead elsewhere (ASVS 5.1.5).
 */
export function localPath(sent: string | undefined): string {
  if (sent === undefined || !allowedPattern.test(sent)) return defaultPath;
  const baseUrl = 'http://signalpost.invalid';
  const url = URL.parse(sent, baseUrl);
  return url !== null && url.origin === baseUrl && allowedPattern.test(url.pathname + url.search)
    ? url.pathname + url.search
    : defaultPath;
}

/** The sign-in page that continues to a local path. */
export function signInPath(next: string): string {
  return `/sign-in?${new URLSearchParams({ next })}`;
}
