/** Where people go who signed in without having been on the way somewhere. */
const defaultPath = '/console';

/** Only these pages ask people to sign in first, so nothing else needs to be returned to. */
const allowedPattern = /^\/(?:authorize|me|inbox|console|invitation)(?:[/?]|$)/;

/**
 * A local address of this service to go on to, whatever was sent: no scheme, no host, no trick of `//`, backslashes or
 * control characters leads anywhere else (ASVS 5.1.5).
 */
export function localPath(sent: string | undefined): string {
  if (sent === undefined || !allowedPattern.test(sent)) return defaultPath;
  const baseUrl = 'http://signalpost.invalid';
  const url = URL.parse(sent, baseUrl);
  return url !== null && url.origin === baseUrl && allowedPattern.test(url.pathname + url.search)
    ? url.pathname + url.search
    : defaultPath;
}
