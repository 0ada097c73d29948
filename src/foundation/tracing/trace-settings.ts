import type { OtlpTarget, TelemetryIdentity } from './otlp-target.ts';

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
