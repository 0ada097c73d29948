import {
  type Attributes,
  type Logger,
  ROOT_CONTEXT,
  SeverityNumber,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { OtlpAgent } from '../tracing/otlp-agent.ts';
import { settleExport } from '../tracing/settle-export.ts';
import { telemetryResource } from '../tracing/telemetry-resource.ts';
import type { LogOutput, LogOutputs } from './log-outputs.ts';

/** Lines that wait for their export; those beyond are dropped. */
const maxWaitingLines = 8_192;

type Line = Readonly<Record<string, unknown>>;

/** Exports lines as log records of OpenTelemetry. They are parsed again, so that they are redacted like all others. */
export class OtlpLog implements LogOutput {
  readonly #provider: LoggerProvider;
  readonly #logger: Logger;
  readonly #agent: OtlpAgent;

  constructor({ target, identity }: NonNullable<LogOutputs['otlp']>) {
    this.#agent = new OtlpAgent(target.url, target.certificate);
    const exporter = new OTLPLogExporter({
      url: target.url,
      headers: { ...target.headers },
      timeoutMillis: target.timeoutMs,
      httpAgentOptions: () => this.#agent.agent,
    });
    this.#provider = new LoggerProvider({
      resource: telemetryResource(identity),
      processors: [
        new BatchLogRecordProcessor({
          exporter,
          maxQueueSize: maxWaitingLines,
          exportTimeoutMillis: target.timeoutMs + 1_000,
        }),
      ],
    });
    this.#logger = this.#provider.getLogger('signalpost');
  }

  write(line: string): void {
    const { level, time, msg, err, trace_id, span_id, ...members } = JSON.parse(line) as Line;
    this.#logger.emit({
      timestamp: new Date(String(time)),
      ...severityOf(Number(level)),
      body: String(msg ?? ''),
      attributes: { ...(members as Attributes), ...exceptionOf(err) },
      ...(typeof trace_id === 'string' &&
        typeof span_id === 'string' && {
          context: trace.setSpanContext(ROOT_CONTEXT, {
            traceId: trace_id,
            spanId: span_id,
            traceFlags: TraceFlags.SAMPLED,
          }),
        }),
    });
  }

  async close(): Promise<void> {
    await settleExport(this.#provider.shutdown());
    this.#agent.cutOff();
  }
}

function severityOf(level: number): { severityNumber: SeverityNumber; severityText: string } {
  if (level >= 60) return { severityNumber: SeverityNumber.FATAL, severityText: 'fatal' };
  if (level >= 50) return { severityNumber: SeverityNumber.ERROR, severityText: 'error' };
  if (level >= 40) return { severityNumber: SeverityNumber.WARN, severityText: 'warn' };
  if (level >= 30) return { severityNumber: SeverityNumber.INFO, severityText: 'info' };
  return { severityNumber: SeverityNumber.DEBUG, severityText: 'debug' };
}

/** An error by the semantic conventions for exceptions. */
function exceptionOf(err: unknown): Attributes {
  if (typeof err !== 'object' || err === null) return {};
  const { type, message, stack } = err as Line;
  return {
    'exception.type': String(type ?? 'Error'),
    'exception.message': String(message ?? ''),
    ...(typeof stack === 'string' && { 'exception.stacktrace': stack }),
  };
}
