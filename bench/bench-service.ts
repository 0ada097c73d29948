import { join } from 'node:path';
import { type BenchProgram, startBenchProgram } from './bench-program.ts';
import { runtimeEnvironment, runtimeOptions } from './runtime-options.ts';

export interface BenchServiceOptions {
  /** For the runtime, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
  /** Undefined: one for each core, as `serve` has it. */
  readonly processes?: number;
  readonly roles?: string;
  readonly smtpUrl?: string;
}

/** The key of the benchmark's installation, in the form of SIGNALPOST_KEY. */
export const benchMasterKey = Buffer.alloc(32, 7).toString('base64');

/** Starts the service on a database that is set up already; resolves once it listens. */
export function startBenchService(
  databaseUrl: string,
  { nodeOptions = [], processes, roles, smtpUrl }: BenchServiceOptions = {},
): Promise<BenchProgram> {
  const program = join(import.meta.dirname, 'bench-server.ts');
  return startBenchProgram(process.execPath, [...runtimeOptions, ...nodeOptions, program], {
    ...runtimeEnvironment,
    DATABASE_URL: databaseUrl,
    SIGNALPOST_KEY: benchMasterKey,
    PORT: '0',
    LOG_LEVEL: 'error',
    // The load comes from one address.
    MAX_CONNECTIONS_PER_PEER: '20000',
    ...(processes !== undefined && { BENCH_PROCESSES: String(processes) }),
    ...(roles !== undefined && { BENCH_ROLES: roles }),
    ...(smtpUrl !== undefined && { SMTP_URL: smtpUrl }),
  });
}
