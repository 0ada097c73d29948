import type { CompileResult } from './compile-source.ts';
import { TemplateCompiler } from './template-compiler.ts';
import type { TemplateSource } from './template-source.ts';

export type { CompileResult, TemplateField } from './compile-source.ts';

/** One for the process: its thread, with the libraries that it loads, starts with the first template. */
const compiler = new TemplateCompiler();

/**
 * Does everything for a template version that can be done once: MJML to HTML, CSS into attributes, a
 * text part from the HTML, the escaping that each field needs at its place, the table of links.
 * Problems of the template are in the result; it throws only for faults of this program.
 */
export function compileTemplate(source: TemplateSource): Promise<CompileResult> {
  return compiler.compile(source);
}
