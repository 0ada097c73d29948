import { isIP } from 'node:net';

/** The site that passkeys of this service are bound to (WebAuthn Level 2, relying party). */
export interface PasskeySite {
  /** The relying party ID: the host name. */
  readonly rpId: string;
  readonly origin: string;
}

/** The site, or a sentence that says why this service can't have passkeys and what to change. */
export type PasskeySupport = PasskeySite | { readonly problem: string };

/**
 * Browsers offer passkeys only to secure pages with a host name (WebAuthn Level 2, section 5.1.2): https, or localhost
 * without TLS.
 * @param publicUrl the public base URL
 */
export function passkeySupport(publicUrl: string): PasskeySupport {
  const { protocol, hostname, origin, port } = new URL(publicUrl);
  const address = hostname.replace(/^\[|\]$/g, '');
  const local = `http://localhost${port && `:${port}`}`;
  const fix = `Set PUBLIC_URL to an https address, or to ${local} for a browser on the same machine.`;
  if (isIP(address) !== 0)
    return {
      problem: `Passkeys need a host name, and this service’s address is the IP address ${address}. ${fix}`,
    };
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isLocal)
    return { problem: `Passkeys need https, and this service’s address is ${origin}. ${fix}` };
  return { rpId: hostname, origin };
}
