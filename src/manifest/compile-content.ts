import type { CompiledTemplate } from '../template/compiled-template.ts';
import type { TemplateProblem } from '../template/template-problem.ts';
import type { CompiledContents } from './compiled-contents.ts';
import type { ManifestTemplate } from './manifest.ts';
import type { ProblemCollector } from './manifest-problems.ts';

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
