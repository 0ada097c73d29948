/** Where people go who signed in without having been on the way somewhere. */
export const defaultAddress = '/console';

/** Only these pages ask people to sign in first, so nothing else needs to be returned to. */
const known = /^\/(?:authorize|me|inbox|console|invitation)(?:[/?]|$)/;

/**
 * A local address of this service to go on to, whatever was sent: no scheme, no host, no trick of `//`, backslashes or
 * control characters leads anywhere else (ASVS 5.1.5).
 */
export function localAddress(sent: string | undefined): string {
  if (sent === undefined || !known.test(sent)) return defaultAddress;
  const here = 'http://signalpost.invalid';
  const url = URL.parse(sent, here);
  return url !== null && url.origin === here && known.test(url.pathname + url.search)
    ? url.pathname + url.search
    : defaultAddress;
}
