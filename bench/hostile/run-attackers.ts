import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { AttackOrder, AttackReport } from './attackers.ts';

/** Runs the attackers in a process of their own. */
export function runAttackers(order: AttackOrder): Promise<AttackReport> {
  const program = join(import.meta.dirname, 'attackers.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(JSON.stringify(order));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString()) as AttackReport);
      else reject(new Error(`the attackers ended with ${code}`));
    });
  });
}
