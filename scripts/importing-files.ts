import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const importPattern = /(?:import|export)\s(?:[^'";]*?from\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;

/** Filters `files` to those that import `target` directly or indirectly. Paths are relative to the working directory. */
export async function importingFiles(files: readonly string[], target: string): Promise<string[]> {
  const imports = new Map<string, Promise<readonly string[]>>();
  const importsOf = (file: string): Promise<readonly string[]> => {
    const cached = imports.get(file) ?? readImports(file);
    imports.set(file, cached);
    return cached;
  };
  const reaches = async (file: string): Promise<boolean> => {
    const visited = new Set([resolve(file)]);
    for (const current of visited) {
      if (current === resolve(target)) return true;
      for (const next of await importsOf(current)) visited.add(next);
    }
    return false;
  };
  const found = await Promise.all(files.map(async (file) => ((await reaches(file)) ? [file] : [])));
  return found.flat();
}

async function readImports(file: string): Promise<readonly string[]> {
  if (!file.endsWith('.ts')) return [];
  // A test can contain the text of a program that imports other files.
  const text = await readFile(file, 'utf8').catch(() => '');
  return [...text.matchAll(importPattern)].map((match) =>
    resolve(dirname(file), match[1] ?? match[2] ?? ''),
  );
}
