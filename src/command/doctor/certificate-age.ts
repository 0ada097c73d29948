import type { X509Certificate } from 'node:crypto';

/** Certificates are usually renewed a month before they expire, so renewal is a week overdue by then. */
const minCertificateDays = 21;

interface CertificateAge {
  /** Until it expires; negative if it has. */
  readonly days: number;
  /** Why it must be renewed; undefined if it is fine. */
  readonly problem: string | undefined;
}

/** Checks whether the renewal of a certificate is overdue. */
export function checkCertificateExpiry({
  validToDate,
}: Pick<X509Certificate, 'validToDate'>): CertificateAge {
  const days = Math.floor((validToDate.getTime() - Date.now()) / 86_400_000);
  if (days < 0) return { days, problem: 'the certificate has expired' };
  return {
    days,
    problem: days < minCertificateDays ? `the certificate expires in ${days} days` : undefined,
  };
}
