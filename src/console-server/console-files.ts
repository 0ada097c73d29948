import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the build of the console stands. */
export const consoleFolder = join(import.meta.dirname, '../../console/dist');

/** A page of the build for one answer. */
export interface ConsolePage {
  readonly html: string;
  /** Only <style> elements with this value count (CSP Level 3 section 2.3.1). */
  readonly nonce: string;
}

/**
 * Reads a page of the build and puts a new nonce in; undefined where the console has not been built. The file is read
 * each time: it is small, and a console that is built while the service runs is there at once.
 */
export async function readConsolePage(
  folder: string,
  name: 'index.html' | 'frame.html',
): Promise<ConsolePage | undefined> {
  try {
    const text = await readFile(join(folder, name), 'utf8');
    const nonce = randomBytes(16).toString('base64url');
    return { html: text.replaceAll('CSP_NONCE', nonce), nonce };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
