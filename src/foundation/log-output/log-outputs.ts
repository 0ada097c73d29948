import type { OtlpTarget, TelemetryIdentity } from '../tracing/otlp-target.ts';

/** Where log lines go. */
export interface LogOutputs {
  /** Path of a file that replaces standard error; undefined: standard error. */
  readonly file: string | undefined;
  /** Gets a copy of each line. */
  readonly syslog: SyslogTarget | undefined;
  /** Gets a copy of each line. */
  readonly otlp: { readonly target: OtlpTarget; readonly identity: TelemetryIdentity } | undefined;
}

/** A syslog server: a host with UDP or TCP, or the path of a stream socket. */
export type SyslogTarget =
  | { readonly protocol: 'udp'; readonly host: string; readonly port: number }
  | { readonly protocol: 'tcp'; readonly host: string; readonly port: number }
  | { readonly protocol: 'unix'; readonly path: string };

/** Takes whole lines of JSON, each with its line break. */
export interface LogOutput {
  write(line: string): void;
  /** Flushes the remaining lines, for at most a few seconds. */
  close(): Promise<void>;
}
