import { createLog, type Log, standardError } from '../log.ts';
import { LogFile } from './log-file.ts';
import type { LogOutput, LogOutputs } from './log-outputs.ts';
import { openSyslog } from './syslog.ts';

/** A log and what it writes to. */
export interface OpenedLog {
  readonly log: Log;
  /** Passes on the last lines. */
  close(): Promise<void>;
}

/**
 * Opens the log of the service.
 * @throws OperatorError if LOG_FILE can't be written
 */
export async function openLog(level: string, outputs: LogOutputs): Promise<OpenedLog> {
  const { file, syslog, otlp } = outputs;
  if (file === undefined && syslog === undefined && otlp === undefined)
    return { log: createLog(level), close: async () => undefined };
  const opened: LogOutput[] = [];
  if (file !== undefined) opened.push(new LogFile(file));
  if (syslog !== undefined) opened.push(openSyslog(syslog));
  if (otlp !== undefined) {
    const { OtlpLog } = await import('./otlp-log.ts');
    opened.push(new OtlpLog(otlp));
  }
  const writers = file === undefined ? [standardError(), ...opened] : opened;
  const log = createLog(level, {
    write(line: string) {
      for (const writer of writers) writer.write(line);
    },
  });
  if (otlp !== undefined) {
    const { logExportProblems } = await import('../tracing/export-warnings.ts');
    logExportProblems(log);
  }
  return {
    log,
    async close() {
      await Promise.all(opened.map((output) => output.close()));
    },
  };
}
