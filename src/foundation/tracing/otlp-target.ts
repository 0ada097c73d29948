/** Where a signal is exported to by OTLP over HTTP. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one export, retries included. */
  readonly timeoutMs: number;
  /** PEM of the certificates to trust; undefined: those of the system. */
  readonly certificate: string | undefined;
}

/** What exports say about this process. */
export interface TelemetryIdentity {
  readonly serviceName: string;
  /** Attributes that the operator adds. */
  readonly attributes: Readonly<Record<string, string>>;
}
