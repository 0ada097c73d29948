import { DiagLogLevel, diag } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import type { Log } from '../log.ts';
import { ExportCutOff } from './otlp-agent.ts';

const intervalMs = 60_000;

/**
 * Logs problems of the OpenTelemetry SDK, which reports them to one handler per process: at most one warning a minute,
 * because a collector that is down fails every export.
 */
export function logExportProblems(log: Log): void {
  let quietUntil = 0;
  let unreported = 0;
  const warn = (reason: string): void => {
    if (performance.now() < quietUntil) {
      unreported += 1;
      return;
    }
    quietUntil = performance.now() + intervalMs;
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
