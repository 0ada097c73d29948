import type { CompileResult } from './compile-source.ts';
import { TemplateCompiler } from './template-compiler.ts';
import type { TemplateSource } from './template-source.ts';

export type { CompileResult } from './compile-source.ts';

/** One for the process: its threads, with the libraries that they load, start with the first template. */
const compiler = new TemplateCompiler();

/**
 * Does everything for a template version that can be done once: MJML to HTML, CSS into attributes, a
 * text part from the HTML, the escaping that each field needs at its place, the table of links.
 * Problems of the template are in the result; else it throws only for faults of this program.
 * @param group the account that asks; accounts take turns. Undefined: the operator
 * @throws Busy where the account asks for too much at once
 */
export function compileTemplate(source: TemplateSource, group?: string): Promise<CompileResult> {
  return compiler.compile(source, group);
}
