import type { ProductFiles } from '../../packages/import/src/main.ts';
import { suppressionReasons } from '../feedback/suppression/suppression.ts';
import { OperatorError } from '../foundation/errors.ts';
import { type CommandShell, type JsonOption, printResult } from './shell.ts';
import { templateFiles } from './template/template-folder.ts';
import { connectTo } from './types.ts';

export interface ImportOptions extends ProductFiles, JsonOption {
  readonly url?: string;
}

/**
 * `import`: templates of another product into a folder, and its suppressed addresses into a running service.
 * @returns the exit code
 * @throws OperatorError for problems that the caller can fix
 */
export async function runImport(
  shell: CommandShell,
  product: string,
  { url, ...options }: ImportOptions,
): Promise<number> {
  const { importFiles, ImportProblem } = await loadImports();
  const host = {
    print: (text: string, result: object) => printResult(shell, options, text, result),
    warn: (line: string) => shell.err(`${line}\n`),
    templateFiles,
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

/** A checkout has the source of the package, the published package what `scripts/build-package.mjs` made of it. */
async function loadImports(): Promise<typeof import('../../packages/import/src/main.ts')> {
  const main = import.meta.filename.endsWith('.ts') ? 'src/main.ts' : 'dist/main.js';
  return await import(`../../packages/import/${main}`);
}
