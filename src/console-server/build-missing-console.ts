import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../foundation/log.ts';
import { consoleFolder } from './console-files.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Builds the console in the background if it is missing and its packages are installed. Never fails, because the
 * service works without its console.
 */
export function buildMissingConsole(log: Log): void {
  if (existsSync(join(consoleFolder, 'index.html'))) return;
  const script = join(root, 'scripts/build-console.mjs');
  if (!existsSync(join(root, 'console/vite.config.ts')) || !existsSync(script)) return;
  const build = spawn(process.execPath, [script], { cwd: root, stdio: 'ignore' });
  build.once('error', (error) => log.warn({ err: error }, 'the console could not be built'));
  build.once('exit', (code) => {
    if (code === 0 && existsSync(join(consoleFolder, 'index.html'))) log.info('built the console');
    else log.warn({ code }, 'the console is not built; run: npm run console');
  });
  // Stopping the service doesn't wait for the build.
  build.unref();
}
