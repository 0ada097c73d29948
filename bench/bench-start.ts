import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBenchProgram } from './bench-program.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { benchMasterKey } from './bench-service.ts';
import { median } from './median.ts';

const program = join(import.meta.dirname, '../bin/signalpost');

/**
 * Milliseconds from the command to the first answer at /readyz: of `start` on a new data folder (it makes a database), and
 * on one that is there.
 */
export async function benchStart(options: BenchOptions): Promise<BenchResult[]> {
  const fresh: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const dataDir = await mkdtemp(join(tmpdir(), 'signalpost-bench-'));
    await chmod(dataDir, 0o711);
    try {
      fresh.push(await startOnce(dataDir));
      again.push(await startOnce(dataDir));
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  const line = (folder: string, times: readonly number[]): BenchResult => ({
    name: 'start-up',
    params: { folder, rounds: options.rounds },
    rate: 0,
    ceiling: 0,
    ratio: 0,
    p50_ms: median(times),
    p99_ms: Math.max(...times),
  });
  return [line('new', fresh), line('existing', again)];
}

async function startOnce(dataDir: string): Promise<number> {
  const started = performance.now();
  await using service = await startBenchProgram(program, ['start'], {
    DATA_DIR: dataDir,
    SIGNALPOST_KEY: benchMasterKey,
    PORT: '0',
    LOG_LEVEL: 'error',
  });
  const answer = await fetch(`${service.url}/readyz`);
  if (!answer.ok) throw new Error(`/readyz answered ${answer.status}`);
  return performance.now() - started;
}
