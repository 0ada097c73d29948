import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brandHead } from '../brand/brand-files.ts';

/** Location of the console build. */
export const consoleFolder = join(import.meta.dirname, '../../console/dist');

/** A page of the build for one response. */
export interface ConsolePage {
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
