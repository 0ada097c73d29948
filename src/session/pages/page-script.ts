import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The browser half of SimpleWebAuthn, then the script of the pages. */
const files = [
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser')),
  new URL('./assets/pages.js', import.meta.url),
];

const content = files.map((file) => readFileSync(file, 'utf8')).join('\n');

/** URL path of the script. */
export const pageScriptPath = '/session.js';

/** The script of the pages; its URL changes with its content. */
export const pageScript = {
  url: `${pageScriptPath}?v=${createHash('sha256').update(content).digest('base64url').slice(0, 12)}`,
  content,
} as const;
