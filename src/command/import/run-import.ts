import {
  parseSuppressionReason,
  suppressionReasons,
} from '../../feedback/suppression/suppression.ts';
import { OperatorError } from '../../foundation/errors.ts';
import { TypesFailure } from '../../template-types/management-connection.ts';
import type { CommandShell } from '../shell.ts';
import { runTemplateCommand } from '../template/run-template-command.ts';
import { connectTo } from '../types.ts';
import { type ImportTemplatesOptions, importTemplates } from './import-templates.ts';
import { type Product, products } from './product-templates.ts';
import { sendSuppressions } from './send-suppressions.ts';

export interface ImportOptions extends ImportTemplatesOptions {
  readonly templates?: readonly string[];
  readonly suppressions?: readonly string[];
  readonly reason?: string;
  readonly url?: string;
}

/**
 * `import`: templates of another product into a folder, and its suppressed addresses into a running service.
 * @returns the exit code
 * @throws OperatorError for problems that the caller can fix
 */
export async function runImport(
  name: string,
  { templates = [], suppressions = [], reason, url, ...options }: ImportOptions,
  shell: CommandShell,
): Promise<number> {
  const product = products.find((known): known is Product => known === name);
  if (product === undefined)
    throw new OperatorError(`${name} is not one of ${products.join(', ')}.`);
  return await runTemplateCommand(async () => {
    const chosen = reason === undefined ? undefined : parseSuppressionReason(reason);
    if (reason !== undefined && chosen === undefined)
      throw new TypesFailure(`--reason must be one of ${suppressionReasons.join(', ')}`);
    if (templates.length === 0 && suppressions.length === 0)
      throw new TypesFailure('Give --templates or --suppressions with files');
    let exitCode = 0;
    if (templates.length > 0) exitCode = await importTemplates(product, templates, options, shell);
    if (suppressions.length === 0) return exitCode;
    const connect = () => connectTo(url, shell);
    const code = await sendSuppressions(product, suppressions, chosen, connect, options, shell);
    return Math.max(exitCode, code);
  });
}
