import type { StsFetchFault } from '../mta-sts/fetch-sts-policy.ts';

/** RFC 8460 section 4.3: how a session with a domain's server ended with respect to TLS. */
export type TlsResultType =
  | 'success'
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | StsFetchFault;

/** One session, or one policy that could not be fetched. */
export interface TlsResult {
  /** The recipients' domain. */
  readonly domain: string;
  /** RFC 8460 section 4.4: the policy that applied to the session. */
  readonly policyType: 'sts' | 'no-policy-found';
  readonly type: TlsResultType;
  /** The receiving MX host; empty if none was reached. */
  readonly host: string;
}

/** Classifies a failed handshake by the TLS library's error text. */
export function classifyTlsFault(text: string): TlsResultType {
  if (/not support|\bSTARTTLS: [45]|upgrading connection with STARTTLS/i.test(text))
    return 'starttls-not-supported';
  if (/expired/i.test(text)) return 'certificate-expired';
  if (/hostname|altname|does not match/i.test(text)) return 'certificate-host-mismatch';
  if (/self.signed|unable to (verify|get)|issuer|signature|not trusted/i.test(text))
    return 'certificate-not-trusted';
  return 'validation-failure';
}
