import { parse } from 'csv-parse/sync';
import type { ProductFiles } from '../../../packages/import/src/main.ts';
import { detectCsvForm, findAddressColumn } from '../../base/values/csv-file.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { suppressionReasons } from '../../content/suppression/suppression.ts';
import { type CommandShell, printResult } from './shell.ts';
import { templateFiles } from './template/template-folder.ts';
import { connectTo } from './types.ts';

/**
 * `import`: templates of another product into a folder, and its suppressed addresses into a running service.
 * @returns the exit code
 * @throws OperatorError for problems that the caller can fix
 */
export async function runImport(
  shell: CommandShell,
  product: string,
  { url, ...options }: ProductFiles & { readonly url?: string },
): Promise<number> {
  const { importFiles, ImportProblem } = await loadImports();
  const host = {
    print: (text: string, result: object) => printResult(shell, text, result),
    warn: (line: string) => shell.err(`${line}\n`),
    templateFiles,
    readCsv,
    findAddressColumn(columns: readonly string[]) {
      const found = findAddressColumn(columns, 'address');
      return typeof found === 'number' ? columns[found] : undefined;
    },
    reasons: suppressionReasons,
    connect: () => connectTo(url, shell),
  };
  try {
    return await importFiles(product, options, host);
  } catch (error) {
    if (!(error instanceof ImportProblem)) throw error;
    throw new OperatorError(`${error.message}.`, { cause: error });
  }
}

function readCsv(file: Buffer): Record<string, string>[] {
  const rows = { info: false, columns: true, skip_records_with_empty_values: true } as const;
  return parse<Record<string, string>>(file, { ...detectCsvForm(file), ...rows });
}

/** A checkout has the source of the package, the published package what `scripts/build-package.mjs` made of it. */
async function loadImports(): Promise<typeof import('../../../packages/import/src/main.ts')> {
  const main = import.meta.filename.endsWith('.ts') ? 'src/main.ts' : 'dist/main.js';
  return await import(`../../../packages/import/${main}`);
}
