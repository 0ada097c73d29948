import type { X509Certificate } from 'node:crypto';

/** Certificates that are renewed a month before their end have been late for a week by then. */
const minCertificateDays = 21;

interface CertificateAge {
  /** Until it expires; negative if it has. */
  readonly days: number;
  /** Why it must be renewed; undefined if it is fine. */
  readonly problem: string | undefined;
}

/** Judges whether a certificate that renews itself is overdue. */
export function judgeCertificateAge({
  validToDate,
}: Pick<X509Certificate, 'validToDate'>): CertificateAge {
  const days = Math.floor((validToDate.getTime() - Date.now()) / 86_400_000);
  if (days < 0) return { days, problem: 'the certificate has expired' };
  return {
    days,
    problem: days < minCertificateDays ? `the certificate expires in ${days} days` : undefined,
  };
}
