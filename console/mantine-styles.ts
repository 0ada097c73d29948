import { glob, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const library = join(import.meta.dirname, '../node_modules/@mantine/core');
const foundations = ['baseline', 'default-css-variables', 'global'];
const libraryImport = /import (?!type)\{([^}]*)\} from '@mantine\/core'/g;
const relativeImport = /from "(\.[^"]+\.mjs)"/g;
/** Radio buttons, checkboxes and switches share what is in `utils`. */
const styledFolders = /\/(?:components|utils)\//;
const id = '\0mantine-styles.css';

/**
 * Provides `virtual:mantine-styles.css`: the component library's styles of the components in use, in the library's order. Those of all
 * components would be twice as much for the first view.
 */
export function mantineStyles(): Plugin {
  return {
    name: 'mantine-styles',
    resolveId: (source) => (source === 'virtual:mantine-styles.css' ? id : undefined),
    async load(loaded) {
      if (loaded !== id) return undefined;
      const [everything, names] = await Promise.all([
        readFile(join(library, 'styles.css'), 'utf8'),
        findStyleNames(),
      ]);
      const pieces = await Promise.all(
        [...foundations, ...names].map(async (name) => {
          const text = (await readFile(join(library, `styles/${name}.css`), 'utf8')).trim();
          return { text, place: everything.indexOf(text) };
        }),
      );
      return pieces
        .sort((a, b) => a.place - b.place)
        .map(({ text }) => text)
        .join('\n');
    },
  };
}

/** The style sheets of the components that the console imports, and of those that these are made of. */
async function findStyleNames(): Promise<ReadonlySet<string>> {
  const files = new Map<string, string>();
  for await (const file of glob('esm/components/**/*.mjs', { cwd: library }))
    files.set(basename(file, '.mjs'), join(library, file));
  const styles = new Set<string>();
  const seen = new Set<string>();

  async function visit(file: string): Promise<void> {
    if (seen.has(file)) return;
    seen.add(file);
    if (file.endsWith('.module.mjs')) styles.add(basename(file, '.module.mjs'));
    for (const [, path = ''] of (await readFile(file, 'utf8')).matchAll(relativeImport))
      if (styledFolders.test(resolve(dirname(file), path)))
        await visit(resolve(dirname(file), path));
  }

  for await (const source of glob('src/**/*.tsx', { cwd: import.meta.dirname })) {
    const text = await readFile(join(import.meta.dirname, source), 'utf8');
    for (const [, names = ''] of text.matchAll(libraryImport))
      for (const name of names.split(',')) {
        const file = files.get(name.trim());
        if (file !== undefined) await visit(file);
      }
  }
  return styles;
}
