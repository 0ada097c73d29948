import type { X509Certificate } from 'node:crypto';

/** What a program connects to. */
export interface SubmissionEndpoint {
  /** A name that the certificate is for, if it names one. */
  readonly host: string;
  /** With STARTTLS; undefined: not open. */
  readonly port: number | undefined;
  /** With TLS from the start; undefined: not open. */
  readonly tlsPort: number | undefined;
}

/**
 * Chooses the host name for programs to connect to: they check it against the certificate (RFC 8314 section 4.2).
 * @param known names of the service, the best one first
 * @returns the first that the certificate is for, otherwise a name in the certificate, otherwise the first one
 */
export function chooseSubmissionHost(
  certificate: X509Certificate,
  known: readonly [string, ...string[]],
): string {
  const covered = known.find((name) => certificate.checkHost(name) !== undefined);
  return covered ?? dnsNamesOf(certificate)[0] ?? known[0];
}

/** The certificate's names without wildcards, which don't say which host to connect to. */
function dnsNamesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return Array.from(
    subjectAltName.matchAll(/(?<=^|, )DNS:([a-z0-9_.-]+)(?=,|$)/gi),
    ([, name = '']) => name,
  );
}
