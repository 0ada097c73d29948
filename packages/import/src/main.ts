import { type ImportHost, ImportProblem } from './host.ts';
import { type ImportTemplatesOptions, importTemplates } from './import-templates.ts';
import { type Product, products } from './product-templates.ts';
import { sendSuppressions } from './send-suppressions.ts';

export { ImportProblem };

export interface ProductFiles extends ImportTemplatesOptions {
  readonly templates?: readonly string[];
  readonly suppressions?: readonly string[];
  /** For suppressed addresses whose file doesn't say it. */
  readonly reason?: string;
}

/**
 * Imports templates of another product into a folder, and its suppressed addresses into a running service.
 * @returns the exit code
 * @throws ImportProblem
 */
export async function importFiles(
  name: string,
  { templates = [], suppressions = [], reason, ...options }: ProductFiles,
  host: ImportHost,
): Promise<number> {
  const product = products.find((known): known is Product => known === name);
  if (product === undefined)
    throw new ImportProblem(`${name} is not one of ${products.join(', ')}`);
  if (reason !== undefined && !host.reasons.includes(reason))
    throw new ImportProblem(`--reason must be one of ${host.reasons.join(', ')}`);
  if (templates.length === 0 && suppressions.length === 0)
    throw new ImportProblem('Give --templates or --suppressions with files');
  let exitCode = 0;
  if (templates.length > 0) exitCode = await importTemplates(product, templates, options, host);
  if (suppressions.length === 0) return exitCode;
  return Math.max(exitCode, await sendSuppressions(product, suppressions, reason, host));
}
