/** Where a trace continues, as the headers of W3C Trace Context level 1. */
export interface TraceContext {
  readonly traceparent: string;
  /** At most 512 characters (section 3.3.1.5). */
  readonly tracestate?: string;
}

/** Reads a stored trace context; undefined if there is none. */
export function readTraceContext(stored: unknown): TraceContext | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { traceparent, tracestate } = stored as Readonly<Record<string, unknown>>;
  if (typeof traceparent !== 'string') return undefined;
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}
