import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { LoadOrder, LoadReport } from './load-generator.ts';

/** Its own pauses would count as the service's: what it reads and makes is collected before it begins, and little after. */
const runtime = [
  '--disable-warning=ExperimentalWarning',
  '--expose-gc',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
];

/** Runs the load generator in a process of its own. */
export function runLoad(order: LoadOrder): Promise<LoadReport> {
  const child = spawn(
    process.execPath,
    [...runtime, join(import.meta.dirname, 'load-generator.ts')],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(JSON.stringify(order));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString()) as LoadReport);
      else reject(new Error(`the load generator ended with ${code}`));
    });
  });
}
