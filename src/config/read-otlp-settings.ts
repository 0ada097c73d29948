import { readFileSync } from 'node:fs';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import {
  type OtlpTarget,
  samplerNames,
  type TelemetryIdentity,
  type TraceSettings,
} from '../foundation/tracing/trace-settings.ts';
import { readChoice } from './read-setting.ts';

type Read = (name: string) => string | undefined;

/**
 * Reads the standard settings of OpenTelemetry for traces.
 * @returns undefined if traces are off
 * @throws OperatorError
 */
export function readTraceSettings(read: Read): TraceSettings | undefined {
  const target = readOtlpTarget(read);
  if (target === undefined) return undefined;
  const sampler = readChoice(
    'OTEL_TRACES_SAMPLER',
    read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on',
    samplerNames,
  );
  return { target, identity: readIdentity(read), sampler, ratio: readRatio(read) };
}

const endpoint = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';

function readOtlpTarget(read: Read): OtlpTarget | undefined {
  const exporter = 'OTEL_TRACES_EXPORTER';
  const choice = readChoice(exporter, read(exporter) ?? 'otlp', ['otlp', 'none']);
  if (choice === 'none' || read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const own = read(endpoint);
  const common = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    own === undefined
      ? common &&
        `${readEndpoint('OTEL_EXPORTER_OTLP_ENDPOINT', common).replace(/\/*$/, '')}/v1/traces`
      : readEndpoint(endpoint, own);
  if (url === undefined) return undefined;
  readChoice(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    read('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf',
    ['http/protobuf'],
  );
  return {
    url,
    headers: readHeaders(read('OTEL_EXPORTER_OTLP_HEADERS')),
    timeoutMs: readTimeout(read('OTEL_EXPORTER_OTLP_TIMEOUT') ?? '10000'),
    certificate: readCertificateFile(read('OTEL_EXPORTER_OTLP_CERTIFICATE')),
  };
}

/** Without credentials, which would be in the log of a failed export. */
function readEndpoint(name: string, text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '')
    return text;
  throw new OperatorError(
    `${name} must be the http or https URL of a collector, such as http://127.0.0.1:4318. Put credentials into OTEL_EXPORTER_OTLP_HEADERS.`,
  );
}

function readTimeout(text: string): number {
  if (/^[1-9]\d{2,4}$/.test(text) && Number(text) <= 60_000) return Number(text);
  throw new OperatorError(
    `OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds from 100 to 60000, not "${text}".`,
  );
}

/** The value of headers is a secret, so errors don't repeat it. */
function readHeaders(text: string | undefined): Record<string, string> {
  const headers = readPairs(text);
  const isHeader = ([name, value]: [string, string]): boolean =>
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  if (headers !== undefined && Object.entries(headers).every(isHeader)) return headers;
  throw new OperatorError(
    'OTEL_EXPORTER_OTLP_HEADERS must list headers such as api-key=secret, separated by commas; encode other characters as in a URL.',
  );
}

function readIdentity(read: Read): TelemetryIdentity {
  const text = read('OTEL_RESOURCE_ATTRIBUTES');
  const attributes = readPairs(text);
  if (attributes === undefined)
    throw new OperatorError(
      `OTEL_RESOURCE_ATTRIBUTES must list attributes such as deployment.environment.name=production, separated by commas, not "${text}".`,
    );
  const serviceName = read('OTEL_SERVICE_NAME') ?? attributes['service.name'] ?? 'signalpost';
  return { serviceName, attributes };
}

/** `name=value` pairs with percent-encoded values; undefined if malformed. */
function readPairs(text = ''): Record<string, string> | undefined {
  const pairs: Record<string, string> = {};
  for (const member of text.split(',')) {
    if (member.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(member) ?? [];
    if (name === '') return undefined;
    try {
      pairs[name] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return pairs;
}

function readRatio(read: Read): number {
  const text = read('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = Number(text);
  if (/^(?:\d+\.?\d*|\.\d+)$/.test(text) && ratio <= 1) return ratio;
  throw new OperatorError(
    `OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, such as 0.1, not "${text}".`,
  );
}

function readCertificateFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new OperatorError(
      `OTEL_EXPORTER_OTLP_CERTIFICATE names ${path}, which can’t be read (${codeOf(cause)}).`,
      { cause },
    );
  }
}
