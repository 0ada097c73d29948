import { loadTemplate } from '../../rendering/load-template.ts';
import { renderLine } from '../../rendering/render-line.ts';
import { renderMessage } from '../../rendering/render-message.ts';
import { RenderingTooLarge } from '../../rendering/rendering-too-large.ts';
import { type CompileResult, compileSource } from '../../template/compile-source.ts';
import type { CompiledTemplate } from '../../template/compiled-template.ts';
import { isStackOverflow } from '../../template/is-stack-overflow.ts';
import { parseOverride } from '../../template/parse-override.ts';
import type { TemplateProblem } from '../../template/template-problem.ts';
import { findHints, type Hint, type RenderedContent } from './find-hints.ts';
import { sampleValues } from './sample-values.ts';
import type { VersionContent } from './template-views.ts';

/** The input of a preview; plain data, so it can be sent to a thread. */
export interface PreviewJob {
  readonly content: VersionContent;
  readonly values: Readonly<Record<string, string>> | undefined;
  /** Overrides, already validated. */
  readonly subjectLine: string | undefined;
  readonly previewText: string | undefined;
}

export interface Preview {
  readonly problems: readonly TemplateProblem[];
  readonly fields: CompileResult['fields'];
  readonly rendered: RenderedContent | null;
  readonly hints: readonly Hint[];
}

/** Compiles and renders a template and collects hints, synchronously and without a time limit. */
export async function makePreview(job: PreviewJob): Promise<Preview> {
  const result = await compileSource({ ...job.content });
  const { compiled, fields, problems } = result;
  if (compiled === null) return { problems, fields, rendered: null, hints: [] };
  try {
    const values = sampleValues(result, job.content, job.values);
    const rendered = render(compiled, values, job);
    return { problems, fields, rendered, hints: hintsOf(rendered) };
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    const part = job.content.mjml === undefined ? 'html' : 'mjml';
    const problem = {
      severity: 'error',
      part,
      rule: 'too-large',
      message: `with these values ${error.message}`,
    } as const;
    return { problems: [...problems, problem], fields, rendered: null, hints: [] };
  }
}

function render(
  compiled: CompiledTemplate,
  values: Readonly<Record<string, string>>,
  { subjectLine, previewText: override }: PreviewJob,
): RenderedContent {
  const message = renderMessage(loadTemplate(compiled), {
    values,
    subjectLine,
    previewText: override,
  });
  const own = override === undefined ? compiled.previewText : overrideNodes(override);
  const lookUp = (name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : '');
  const previewText = renderLine(own, lookUp);
  return { subject: message.subject, previewText, html: message.html, text: message.text };
}

function overrideNodes(text: string) {
  const parsed = parseOverride(text);
  return parsed.ok ? parsed.override.nodes : [];
}

/** Skips the hints if values nest elements too deeply to traverse. */
function hintsOf(rendered: RenderedContent): Hint[] {
  try {
    return findHints(rendered);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    return [];
  }
}
