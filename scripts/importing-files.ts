import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const importPattern = /(?:import|export)\s(?:[^'";]*?from\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;

/** The files that each file read so far imports. */
const imports = new Map<string, Promise<readonly string[]>>();

/** Filters `files` to those that import `target` directly or indirectly. Paths are relative to the working directory. */
export async function importingFiles(files: readonly string[], target: string): Promise<string[]> {
  const importers = new Map<string, string[]>();
  const known = new Set(files.map((file) => resolve(file)));
  for (const file of known) {
    const read = imports.get(file) ?? readImports(file);
    imports.set(file, read);
    for (const imported of await read) {
      known.add(imported);
      const others = importers.get(imported);
      if (others === undefined) importers.set(imported, [file]);
      else others.push(file);
    }
  }
  const found = new Set([resolve(target)]);
  for (const file of found) for (const importer of importers.get(file) ?? []) found.add(importer);
  return files.filter((file) => found.has(resolve(file)));
}

async function readImports(file: string): Promise<readonly string[]> {
  if (!file.endsWith('.ts')) return [];
  // A test can contain the text of a program that imports other files.
  const text = await readFile(file, 'utf8').catch(() => '');
  return [...text.matchAll(importPattern)].map((match) =>
    resolve(dirname(file), match[1] ?? match[2] ?? ''),
  );
}
