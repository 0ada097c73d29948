import { join } from 'node:path';
import { type BenchProgram, startBenchProgram } from '../bench-program.ts';
import { benchMasterKey } from '../bench-service.ts';
import { runtimeEnvironment, runtimeOptions } from '../runtime-options.ts';

const program = join(import.meta.dirname, '../../src/main.ts');

/** Starts `serve` with a process for each core, sending to a relay on this machine; resolves once it answers. */
export function startServe(
  databaseUrl: string,
  sinkPort: number,
  connections: number,
  nodeOptions: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchProgram> {
  const args = [...runtimeOptions, ...nodeOptions, program, 'serve'];
  return startBenchProgram(process.execPath, args, {
    ...runtimeEnvironment,
    DATABASE_URL: databaseUrl,
    SIGNALPOST_KEY: benchMasterKey,
    PORT: '0',
    SMTP_URL: `smtp://127.0.0.1:${sinkPort}?tls=off&connections=${connections}&messages=100000`,
    LOG_LEVEL: 'warn',
    ...environment,
  });
}
