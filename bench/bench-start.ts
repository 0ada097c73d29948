import { join } from 'node:path';
import { makeTemporaryFolder } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult, percentiles } from './bench-result.ts';
import { benchMasterKey, startBenchProgram } from './bench-service.ts';

const program = join(import.meta.dirname, '../bin/signalpost');

/** From the command `start` to the first response of /readyz, on a new data folder and on an existing one. */
export async function benchStart({ rounds }: BenchOptions): Promise<BenchResult[]> {
  const times = { new: [] as number[], existing: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    await using folder = await makeTemporaryFolder();
    times.new.push(await startOnce(folder.path));
    times.existing.push(await startOnce(folder.path));
  }
  return Object.entries(times).map(([folder, each]) =>
    makeResult('start-up', { folder, rounds }, percentiles(each)),
  );
}

async function startOnce(dataDir: string): Promise<number> {
  const started = performance.now();
  await using service = await startBenchProgram(program, ['start'], {
    DATA_DIR: dataDir,
    SIGNALPOST_KEY: benchMasterKey,
    PORT: '0',
    LOG_LEVEL: 'error',
  });
  const response = await fetch(`${service.url}/readyz`);
  if (!response.ok) throw new Error(`/readyz: ${response.status}`);
  return performance.now() - started;
}
