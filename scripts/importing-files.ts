import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const importPattern = /(?:import|export)\s(?:[^'";]*?from\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;

/** Filters `files` to those that import `target` directly or indirectly. Paths are relative to this process. */
export async function importingFiles(files: readonly string[], target: string): Promise<string[]> {
  const imports = new Map<string, Promise<readonly string[]>>();
  const importsOf = (file: string): Promise<readonly string[]> => {
    const known = imports.get(file) ?? readImports(file);
    imports.set(file, known);
    return known;
  };
  const reaches = async (file: string): Promise<boolean> => {
    const seen = new Set([resolve(file)]);
    for (const one of seen) {
      if (one === resolve(target)) return true;
      for (const next of await importsOf(one)) seen.add(next);
    }
    return false;
  };
  const found = await Promise.all(files.map(async (file) => ((await reaches(file)) ? [file] : [])));
  return found.flat();
}

async function readImports(file: string): Promise<readonly string[]> {
  if (!file.endsWith('.ts')) return [];
  const text = await readFile(file, 'utf8');
  return [...text.matchAll(importPattern)].map((match) =>
    resolve(dirname(file), match[1] ?? match[2] ?? ''),
  );
}
