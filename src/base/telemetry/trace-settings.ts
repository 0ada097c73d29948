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

/** The samplers of the OpenTelemetry specification that need nothing else. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

type SamplerName = (typeof samplerNames)[number];

export interface TraceSettings {
  readonly target: OtlpTarget;
  readonly identity: TelemetryIdentity;
  readonly sampler: SamplerName;
  /** Share of traces to record, for the samplers by ratio. */
  readonly ratio: number;
}
