import { Gauge, type Registry } from 'prom-client';
import { metricOptions } from '../../foundation/metrics/metrics-table.ts';
import type { LiveCertificate } from './live-certificate.ts';

/** Registers when a certificate expires: that of the HTTP port, the submission ports or the bounce port. */
export function registerCertificateMetrics(
  registry: Registry,
  certificate: LiveCertificate,
  server: 'tls' | 'submission' | 'bounce' = 'tls',
): void {
  new Gauge({
    ...metricOptions(`signalpost_${server}_certificate_expiry_timestamp_seconds`, registry),
    collect() {
      this.set(certificate.current.leaf.validToDate.getTime() / 1_000);
    },
  });
}
