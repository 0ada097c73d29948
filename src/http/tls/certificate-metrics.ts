import { Gauge, type Registry } from 'prom-client';
import { metricOptions } from '../../foundation/metrics/metric-options.ts';
import type { LiveCertificate } from './live-certificate.ts';

/** Registers when the certificate of the HTTP port expires. */
export function registerCertificateMetrics(registry: Registry, certificate: LiveCertificate): void {
  new Gauge({
    ...metricOptions('signalpost_tls_certificate_expiry_timestamp_seconds', registry),
    collect() {
      this.set(certificate.current.leaf.validToDate.getTime() / 1_000);
    },
  });
}
