import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../base/values/log.ts';
import { brandHead } from '../brand/brand-files.ts';

/** Location of the console build. */
export const consoleFolder = join(import.meta.dirname, '../../../console/dist');

/** A page of the build for one response. */
interface ConsolePage {
  readonly html: string;
  /** Only <style> elements with this nonce apply (CSP Level 3 section 2.3.1). */
  readonly nonce: string;
}

/**
 * Reads a page of the build and inserts a new nonce and the shared icon, font and styles; undefined if the console isn't built. Reading the file every
 * time is cheap and makes a console available as soon as it is built.
 */
export async function readConsolePage(
  folder: string,
  name: 'index.html' | 'frame.html',
): Promise<ConsolePage | undefined> {
  try {
    const text = await readFile(join(folder, name), 'utf8');
    const nonce = randomBytes(16).toString('base64url');
    const html = text.replaceAll('CSP_NONCE', nonce).replace('<!-- brand -->', brandHead);
    return { html, nonce };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const root = join(import.meta.dirname, '../../..');

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
