import type { CompileResult } from './compile-source.ts';
import type { MarkupFormat } from './compiled-template.ts';
import { TemplateCompiler } from './template-compiler.ts';
import type { TemplateSource } from './template-source.ts';

export type { CompileResult } from './compile-source.ts';

/** One per process: its threads load their libraries when the first template is compiled. */
const compiler = new TemplateCompiler();

/**
 * Does the work that is the same for all messages of a template version: MJML to HTML, CSS into attributes, the text
 * part from the HTML, the escaping of each field, the table of links. Problems of the template are in the result.
 * @param group the requesting account; accounts take turns. Undefined: the operator
 * @param format how an earlier version reads its markup; undefined: as new versions do
 * @throws Busy if the account has too many templates waiting
 */
export function compileTemplate(
  source: TemplateSource,
  group?: string,
  format?: MarkupFormat,
): Promise<CompileResult> {
  return compiler.compile(source, group, format);
}
