import { readFile } from 'node:fs/promises';

/** The version of this release, from package.json. */
export async function readReleaseVersion(): Promise<string> {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  const content: unknown = JSON.parse(text);
  if (typeof content === 'object' && content !== null && 'version' in content)
    return String(content.version);
  return '0.0.0';
}
