import { readFile } from 'node:fs/promises';

/** The version of this release, from package.json. */
export async function readReleaseVersion(): Promise<string> {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  const content: unknown = JSON.parse(text);
  if (typeof content === 'object' && content !== null && 'version' in content)
    return String(content.version);
  return '0.0.0';
}

/** The oldest major and minor version of Node that runs the service, as `bin/launch.js` requires it. */
export async function readOldestNode(): Promise<string> {
  const text = await readFile(new URL('../../../bin/runtime.json', import.meta.url), 'utf8');
  const { oldestNode } = JSON.parse(text) as { readonly oldestNode: string };
  return oldestNode;
}

/** Compares major and minor versions. */
export function isOlderVersion(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
