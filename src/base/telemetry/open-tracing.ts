import type { Log } from '../values/log.ts';
import type { TraceSettings } from './trace-settings.ts';
import type { Tracing } from './tracing.ts';

/** Starts tracing. Without settings, nothing of OpenTelemetry is loaded. */
export async function openTracing(
  settings: TraceSettings | undefined,
  log: Log,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { Tracing } = await import('./tracing.ts');
  return new Tracing(settings, log);
}
