import type { CompileResult } from '../../content/template/compile-source.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { compileTemplate } from '../../content/template/template-compiler.ts';
import type { TemplateProblem } from '../../content/template/template-problem.ts';
import type { ManifestTemplate } from './manifest.ts';
import type { ProblemCollector } from './manifest-problems.ts';

/**
 * Template contents with their compilation results. They are compiled before the change that needs them, so no transaction or
 * lock lasts as long as a compilation.
 */
export class CompiledContents {
  readonly #group: string | undefined;
  readonly #results = new Map<string, CompileResult>();

  /** @param group the account (see `compileTemplate`) */
  constructor(group?: string) {
    this.#group = group;
  }

  async compile(templates: readonly ManifestTemplate[]): Promise<void> {
    for (const template of templates)
      this.#results.set(keyOf(template), await compileTemplate(template.source, this.#group));
  }

  /** Undefined if it isn't compiled. */
  get(template: ManifestTemplate): CompileResult | undefined {
    return this.#results.get(keyOf(template));
  }
}

function keyOf({ contentHash }: ManifestTemplate): string {
  return contentHash.toString('base64');
}

/** A template's content, compiled as a version. */
interface CompiledContent {
  readonly compiled: CompiledTemplate;
  readonly warnings: readonly string[];
}

/**
 * Converts the content of a template to a version.
 * @returns undefined if it doesn't compile; the reasons are in `problems`
 */
export function resolveCompiledContent(
  template: ManifestTemplate,
  contents: CompiledContents,
  problems: ProblemCollector,
): CompiledContent | undefined {
  const result = contents.get(template);
  if (result === undefined) {
    problems.add(template.path, 'was changed at the same time; apply the manifest again');
    return undefined;
  }
  const { compiled, problems: found } = result;
  for (const problem of found) {
    if (problem.severity === 'error')
      problems.add([...template.path, ...placeOf(problem)], describe(problem, template));
  }
  if (compiled === null) return undefined;
  const warnings = found
    .filter(({ severity }) => severity === 'warning')
    .map((problem) => `warning: ${placeOf(problem).join('.')} ${describe(problem, template)}`);
  return { compiled, warnings };
}

function placeOf({ variant, part }: TemplateProblem): readonly string[] {
  return variant === undefined ? [part] : ['variants', variant, part];
}

/** Lines and columns count from the start of the file or inline text. */
function describe(problem: TemplateProblem, template: ManifestTemplate): string {
  const { part, line, column, message, variant } = problem;
  const files = variant === undefined ? template.files : (template.variantFiles[variant] ?? {});
  const file = part === 'html' || part === 'mjml' || part === 'text' ? files[part] : undefined;
  const at =
    line === undefined ? [] : [`line ${line}${column === undefined ? '' : `, column ${column}`}`];
  const where = [...(file === undefined ? [] : [file]), ...at].join(' ');
  return where === '' ? message : `(${where}) ${message}`;
}
