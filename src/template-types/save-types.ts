import { readFile, rename, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { compareTypes } from './compare-types.ts';
import { readTypes } from './read-types.ts';
import type { TemplateShape } from './template-shape.ts';
import { TypesFailure } from './types-failure.ts';
import { writeTypes } from './write-types.ts';

export interface SaveTypesOptions {
  /** The declaration file; undefined: standard output. */
  readonly out?: string | undefined;
  /** Compares the file instead of writing it. */
  readonly check?: boolean | undefined;
}

/**
 * Writes the types of templates, or compares them with the file.
 * @returns the exit code: 0, or 1 if the file doesn't fit the templates
 * @throws TypesFailure if the file can't be read or written
 */
export async function saveTypes(
  templates: readonly TemplateShape[],
  { out, check = false }: SaveTypesOptions,
): Promise<number> {
  if (check) return await checkTypes(templates, out);
  const text = writeTypes(templates);
  if (out === undefined) {
    process.stdout.write(text);
    return 0;
  }
  const draft = `${out}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text);
    await rename(draft, out);
  } catch (cause) {
    throw new TypesFailure(`Can’t write ${out}: ${(cause as Error).message}`, { cause });
  }
  const count = `${templates.length} template${templates.length === 1 ? '' : 's'}`;
  process.stderr.write(`Wrote ${out}: ${count}.\n`);
  return 0;
}

async function checkTypes(
  templates: readonly TemplateShape[],
  out: string | undefined,
): Promise<number> {
  if (out === undefined) throw new TypesFailure('--check needs --out: the file to check');
  const changes = compareTypes(await readCommitted(out), templates);
  if (changes.length === 0) return 0;
  const lines = changes.map((change) => `  ${change}\n`).join('');
  process.stdout.write(
    `${out} doesn’t fit the published templates:\n${lines}Run the command without --check and commit the file.\n`,
  );
  return 1;
}

async function readCommitted(out: string): Promise<TemplateShape[]> {
  let text: string;
  try {
    text = await readFile(out, 'utf8');
  } catch (cause) {
    throw new TypesFailure(`Can’t read ${out}: ${(cause as Error).message}`, { cause });
  }
  try {
    return readTypes(text);
  } catch (error) {
    if (!(error instanceof TypesFailure)) throw error;
    throw new TypesFailure(`${out} ${error.message}`);
  }
}
