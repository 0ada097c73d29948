import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { hostname } from 'node:os';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import packageJson from '../../../package.json' with { type: 'json' };
import { newId } from '../values/ids.ts';
import type { Log } from '../values/log.ts';
import { within } from '../values/within.ts';
import type { TraceContext } from './trace-context.ts';
import type { TelemetryIdentity, TraceSettings } from './trace-settings.ts';

/**
 * Keeps what belongs together: spans follow their parent in this process, and traces that are linked to a sampled one
 * are sampled too. All others are decided by the operator's sampler.
 */
class FollowSampler implements Sampler {
  readonly #others: Sampler;

  constructor(others: Sampler) {
    this.#others = others;
  }

  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: number,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    const parent = trace.getSpanContext(context);
    if (parent !== undefined && parent.isRemote !== true) return decide(parent.traceFlags);
    if (links.some((link) => isSampled(link.context.traceFlags))) return decide(TraceFlags.SAMPLED);
    return this.#others.shouldSample(context, traceId, name, kind, attributes, links);
  }

  toString(): string {
    return `Follow{${this.#others.toString()}}`;
  }
}

function isSampled(flags: TraceFlags): boolean {
  return (flags & TraceFlags.SAMPLED) !== 0;
}

function decide(flags: TraceFlags): SamplingResult {
  return {
    decision: isSampled(flags) ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  };
}

/** Ended spans that wait for their export; those beyond are dropped. */
const maxWaitingSpans = 8_192;
/** How long ended spans wait for others to be exported with them. */
const exportDelayMs = 1_000;
/** The version suffix of later versions may make it longer (W3C Trace Context section 3.2.4). */
const maxTraceparentLength = 512;

const kinds = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

type SpanRole = keyof typeof kinds;

/** Attributes of a span. They must hold no personal data and no secrets. */
export type SpanAttributes = Attributes;

const propagator = new W3CTraceContextPropagator();

/**
 * Records spans and exports them in the background. Callers pass spans along explicitly: a commit or a claim is shared by
 * several requests or messages, so an ambient context would name the wrong one.
 */
export class Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #agent: OtlpAgent;
  readonly #log: Log;

  constructor({ target, identity, sampler, ratio }: TraceSettings, log: Log) {
    logExportProblems(log);
    this.#log = log;
    this.#agent = new OtlpAgent(target.url, target.certificate);
    const exporter = new OTLPTraceExporter({
      url: target.url,
      headers: { ...target.headers },
      timeoutMillis: target.timeoutMs,
      httpAgentOptions: () => this.#agent.agent,
    });
    this.#provider = new TracerProvider({
      resource: telemetryResource(identity),
      sampler: new FollowSampler(samplerOf(sampler, ratio)),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: maxWaitingSpans,
          scheduledDelayMillis: exportDelayMs,
          exportTimeoutMillis: target.timeoutMs + 1_000,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('signalpost', packageJson.version);
  }

  /**
   * Starts the span of a request. Its parent is the caller's span; a `traceparent` that is malformed or occurs twice starts a
   * new trace (W3C Trace Context section 3.2.2).
   * @returns undefined if the request isn't sampled
   */
  startRequest(
    name: string,
    headers: Readonly<Record<string, unknown>>,
    attributes: SpanAttributes,
  ): TraceSpan | undefined {
    const { traceparent, tracestate } = headers;
    const parent =
      typeof traceparent === 'string' && traceparent.length <= maxTraceparentLength
        ? contextAfter({ traceparent, ...(typeof tracestate === 'string' && { tracestate }) })
        : ROOT_CONTEXT;
    const options = { kind: SpanKind.SERVER, attributes };
    const span = this.#tracer.startSpan(name, options, parent);
    return span.isRecording() ? new TraceSpan(this.#tracer, span) : undefined;
  }

  /** Starts a new trace that links to an earlier one. */
  startLinked(
    earlier: TraceContext,
    name: string,
    role: SpanRole,
    attributes: SpanAttributes,
  ): TraceSpan | undefined {
    const linked = trace.getSpanContext(contextAfter(earlier));
    if (linked === undefined) return undefined;
    const options = { kind: kinds[role], attributes, links: [{ context: linked }] };
    return new TraceSpan(this.#tracer, this.#tracer.startSpan(name, options, ROOT_CONTEXT));
  }

  /** Exports the remaining spans, as far as the collector accepts them in time. */
  async close(): Promise<void> {
    const isExported = this.#provider.shutdown().then(
      () => true,
      () => false,
    );
    if (!(await within(isExported, closeTimeoutMs, () => false)))
      this.#log.warn('the last traces were not exported before the stop');
    this.#agent.cutOff();
  }
}

/** A span that is recorded. */
export class TraceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  /** Members of log lines that belong to the span. */
  get logFields(): { readonly trace_id: string; readonly span_id: string } {
    const { traceId, spanId } = this.#span.spanContext();
    return { trace_id: traceId, span_id: spanId };
  }

  /** What continues this trace elsewhere. */
  get context(): TraceContext {
    const carrier: { traceparent?: string; tracestate?: string } = {};
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.#span), carrier, {
      set(target, name, value) {
        if (value !== '') Object.assign(target, { [name]: value });
      },
    });
    return { traceparent: '', ...carrier };
  }

  startChild(
    name: string,
    role: SpanRole = 'internal',
    attributes: SpanAttributes = {},
  ): TraceSpan {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
    const options = { kind: kinds[role], attributes };
    return new TraceSpan(this.#tracer, this.#tracer.startSpan(name, options, parent));
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  /** @param type a code of low cardinality; never a message, which can quote personal data */
  fail(type: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }
}

function contextAfter(carrier: TraceContext): Context {
  return propagator.extract(ROOT_CONTEXT, carrier, {
    get: (given: TraceContext, name) => given[name as keyof TraceContext],
    keys: Object.keys,
  });
}

function samplerOf(name: TraceSettings['sampler'], ratio: number): Sampler {
  const root = name.replace('parentbased_', '');
  const sampler =
    root === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : root === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler();
  return root === name ? sampler : new ParentBasedSampler({ root: sampler });
}

/** How long a stop waits for the last export. */
const closeTimeoutMs = 3_000;

const instanceId = newId();

/** What every export says about this process. Each process is an instance of the service. */
function telemetryResource({ serviceName, attributes }: TelemetryIdentity): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.version': packageJson.version,
      'service.instance.id': instanceId,
      'host.name': hostname(),
      'process.pid': process.pid,
      ...attributes,
      'service.name': serviceName,
    }),
  );
}

const warningIntervalMs = 60_000;

/**
 * Logs problems of the OpenTelemetry SDK, which reports them to one handler per process: at most one warning a minute,
 * because a collector that is down fails every export.
 */
function logExportProblems(log: Log): void {
  let quietUntil = 0;
  let unreported = 0;
  const warn = (reason: string): void => {
    if (performance.now() < quietUntil) {
      unreported += 1;
      return;
    }
    quietUntil = performance.now() + warningIntervalMs;
    log.warn({ reason, unreported }, 'telemetry could not be exported');
    unreported = 0;
  };
  const ignore = (): void => undefined;
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  setGlobalErrorHandler((error) => {
    // The stop has reported it.
    if (!(error instanceof ExportCutOff)) warn(describeProblem(error));
  });
}

/** Without the response's body, which the collector chooses. */
function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return 'the export failed';
  const { code } = error as { readonly code?: unknown };
  return [code, error.message].filter((part) => part !== undefined && part !== '').join(' ');
}

/** The connections of an exporter, which can be cut off so that a collector that hangs delays no stop. */
class OtlpAgent {
  readonly agent: Agent;

  constructor(url: string, certificate: string | undefined) {
    const options = { keepAlive: true };
    this.agent = url.startsWith('https:')
      ? new SecureAgent({ ...options, ...(certificate !== undefined && { ca: certificate }) })
      : new Agent(options);
  }

  /** Fails the exports in progress and all later ones. */
  cutOff(): void {
    const { agent } = this;
    agent.createConnection = () => {
      throw new ExportCutOff();
    };
    // An error that exporters don't mistake for a broken connection, which they would retry.
    for (const sockets of Object.values(agent.sockets))
      for (const socket of sockets ?? []) socket.destroy(new ExportCutOff());
    agent.destroy();
  }
}

/** The error of exports that were in progress when the service stopped. */
class ExportCutOff extends Error {
  override name = 'ExportCutOff';
}
