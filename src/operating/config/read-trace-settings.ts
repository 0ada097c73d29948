import type {
  OtlpTarget,
  TelemetryIdentity,
  TraceSettings,
} from '../../base/telemetry/trace-settings.ts';
import type { SettingReader } from './settings-table.ts';

/**
 * Reads the standard settings of OpenTelemetry for traces.
 * @returns undefined if traces are off
 * @throws OperatorError
 */
export function readTraceSettings(given: SettingReader): TraceSettings | undefined {
  const target = readOtlpTarget(given);
  if (target === undefined) return undefined;
  const sampler = given.read('OTEL_TRACES_SAMPLER');
  return {
    target,
    identity: readIdentity(given),
    sampler,
    ratio: given.read('OTEL_TRACES_SAMPLER_ARG'),
  };
}

function readOtlpTarget(given: SettingReader): OtlpTarget | undefined {
  const isOff =
    given.read('OTEL_TRACES_EXPORTER') === 'none' ||
    given.read('OTEL_SDK_DISABLED').toLowerCase() === 'true';
  if (isOff) return undefined;
  const url = given.read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? readCommonEndpoint(given);
  if (url === undefined) return undefined;
  given.read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    url,
    headers: given.read('OTEL_EXPORTER_OTLP_HEADERS'),
    timeoutMs: given.read('OTEL_EXPORTER_OTLP_TIMEOUT'),
    certificate: given.read('OTEL_EXPORTER_OTLP_CERTIFICATE'),
  };
}

function readCommonEndpoint(given: SettingReader): string | undefined {
  const common = given.read('OTEL_EXPORTER_OTLP_ENDPOINT');
  return common && `${common.replace(/\/*$/, '')}/v1/traces`;
}

function readIdentity(given: SettingReader): TelemetryIdentity {
  const attributes = given.read('OTEL_RESOURCE_ATTRIBUTES');
  const named = given.isSet('OTEL_SERVICE_NAME') ? undefined : attributes['service.name'];
  return { serviceName: named ?? given.read('OTEL_SERVICE_NAME'), attributes };
}
