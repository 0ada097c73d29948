import { loadTemplate } from '../../../content/rendering/load-template.ts';
import { renderMessage } from '../../../content/rendering/render-message.ts';
import { renderLine } from '../../../content/rendering/render-subject.ts';
import { RenderingTooLarge } from '../../../content/rendering/rendering-too-large.ts';
import { isStackOverflow } from '../../../content/template/compile-problems.ts';
import type { CompileResult } from '../../../content/template/compile-source.ts';
import { compileVersion } from '../../../content/template/compile-version.ts';
import type {
  CompiledTemplate,
  MarkupFormat,
} from '../../../content/template/compiled-template.ts';
import { indexFields } from '../../../content/template/field-index.ts';
import type { GivenValues } from '../../../content/template/field-value.ts';
import {
  formattingLocale,
  localizeVersion,
  matchVariant,
} from '../../../content/template/locale.ts';
import { parseOverride } from '../../../content/template/parse-override.ts';
import type { TemplateProblem } from '../../../content/template/template-problem.ts';
import { openScope } from '../../../content/template/value-scope.ts';
import { findHints, type Hint, type RenderedContent } from './find-hints.ts';
import { findValueProblems, sampleValues } from './sample-values.ts';
import type { VersionContent } from './template-views.ts';

/** The input of a preview; plain data, so it can be sent to a thread. */
export interface PreviewJob {
  readonly content: VersionContent;
  /** How a version reads its markup; undefined: as new versions do. */
  readonly format: MarkupFormat | undefined;
  readonly values: GivenValues | undefined;
  /** Canonical; undefined: the default content. */
  readonly locale: string | undefined;
  /** Overrides, already validated. */
  readonly subjectLine: string | undefined;
  readonly previewText: string | undefined;
}

export interface Preview {
  readonly problems: readonly TemplateProblem[];
  readonly fields: CompileResult['fields'];
  /** A value that fits for each field. */
  readonly examples: GivenValues;
  /** The locale of the variant that is shown; null: the default content. */
  readonly variant: string | null;
  readonly rendered: RenderedContent | null;
  readonly hints: readonly Hint[];
}

/** Compiles and renders a template and collects hints, synchronously and without a time limit. */
export async function makePreview(job: PreviewJob): Promise<Preview> {
  const source = { ...job.content };
  const locales = Object.keys(source.variants ?? {});
  const variant = matchVariant({ ...source, locales }, job.locale) ?? null;
  const result = await compileVersion({ source, format: job.format, only: variant });
  const { fields, problems } = result;
  const compiled = result.compiled && localizeVersion(result.compiled, job.locale);
  const examples = sampleValues(result, job.content);
  const unrendered = { fields, examples, variant, rendered: null, hints: [] };
  if (compiled === null) return { ...unrendered, problems };
  const unusable = inputProblems(compiled, job);
  if (unusable.length > 0) return { ...unrendered, problems: [...problems, ...unusable] };
  try {
    const values = sampleValues(result, job.content, job.values, (name) => `{{${name}}}`);
    const rendered = render(compiled, values, job);
    return { ...unrendered, problems, rendered, hints: hintsOf(rendered) };
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    const shown = variant === null ? source : source.variants?.[variant];
    const part = shown?.mjml === undefined ? 'html' : 'mjml';
    const problem = {
      severity: 'error',
      part,
      rule: 'too-large',
      message: `with these values ${error.message}`,
    } as const;
    return { ...unrendered, problems: [...problems, problem] };
  }
}

function render(
  compiled: CompiledTemplate,
  values: GivenValues,
  { subjectLine, previewText: override, locale }: PreviewJob,
): RenderedContent {
  const message = renderMessage(loadTemplate(compiled), {
    values,
    locale,
    subjectLine,
    previewText: override,
  });
  const own = override === undefined ? compiled.previewText : overrideNodes(override, compiled);
  const scope = openScope(indexFields(compiled.fields), values);
  const previewText = renderLine(own, scope, formattingLocale(compiled.locale, locale));
  return { subject: message.subject, previewText, html: message.html, text: message.text };
}

/** Values and overrides that don't fit the template. */
function inputProblems(compiled: CompiledTemplate, job: PreviewJob): TemplateProblem[] {
  const problems = findValueProblems(compiled, job.values ?? {}).map(({ place, reason }) => ({
    severity: 'error' as const,
    part: 'fields' as const,
    rule: 'bad-value',
    message: `the value of ${place} ${reason}`,
  }));
  const overrides = [
    ['subject', job.subjectLine],
    ['previewText', job.previewText],
  ] as const;
  const malformed = overrides.flatMap(([part, text]) => {
    const parsed = text === undefined ? undefined : parseOverride(text, compiled);
    return parsed === undefined || parsed.ok
      ? []
      : [{ severity: 'error' as const, part, rule: 'bad-override', message: parsed.reason }];
  });
  return [...problems, ...malformed];
}

function overrideNodes(text: string, compiled: CompiledTemplate) {
  const parsed = parseOverride(text, compiled);
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
