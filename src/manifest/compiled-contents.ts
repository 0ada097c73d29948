import type { CompileResult } from '../template/compile-source.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import { compileTemplate } from '../template/template-compiler.ts';
import type { TemplateProblem } from '../template/template-problem.ts';
import type { ManifestTemplate } from './manifest.ts';
import type { ProblemCollector } from './manifest-problems.ts';

/** Thrown if a change needs contents that aren't compiled yet. They are compiled before the change is retried. */
export class NotCompiled extends Error {
  override name = 'NotCompiled';
  readonly templates: readonly ManifestTemplate[];

  constructor(templates: readonly ManifestTemplate[]) {
    super('templates kept changing while they were being compiled');
    this.templates = templates;
  }
}

/** Template contents with their compilation results. */
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

  has(template: ManifestTemplate): boolean {
    return this.#results.has(keyOf(template));
  }

  /** @throws NotCompiled */
  get(template: ManifestTemplate): CompileResult {
    const result = this.#results.get(keyOf(template));
    if (result === undefined) throw new NotCompiled([template]);
    return result;
  }
}

function keyOf({ contentHash }: ManifestTemplate): string {
  return contentHash.toString('base64');
}

const maxAttempts = 5;

/**
 * Runs a change that needs compiled templates. If one isn't compiled, the change is aborted and retried after compiling, so
 * no transaction or lock lasts as long as a compilation.
 * @throws NotCompiled if the templates keep changing
 */
export async function withCompiledContents<Result>(
  group: string | undefined,
  change: (contents: CompiledContents) => Promise<Result>,
): Promise<Result> {
  const contents = new CompiledContents(group);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change(contents);
    } catch (error) {
      if (!(error instanceof NotCompiled) || attempt >= maxAttempts) throw error;
      await contents.compile(error.templates);
    }
  }
}

/** A template's content, compiled as a version. */
interface CompiledContent {
  readonly compiled: CompiledTemplate;
  readonly warnings: readonly string[];
}

/**
 * Converts the content of a template to a version.
 * @returns undefined if it doesn't compile; the reasons are in `problems`
 * @throws NotCompiled
 */
export function resolveCompiledContent(
  template: ManifestTemplate,
  contents: CompiledContents,
  problems: ProblemCollector,
): CompiledContent | undefined {
  const { compiled, problems: found } = contents.get(template);
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
