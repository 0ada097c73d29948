import type { FaultDetail } from '../../base/values/errors.ts';
import { builtInFields } from '../template/built-in-fields.ts';
import { compileSource } from '../template/compile-source.ts';
import { describeReadable } from '../template/field-format.ts';
import { findUnreadable, missingFields } from '../template/template-fields.ts';
import type { TemplatePart, TemplateProblem } from '../template/template-problem.ts';
import type { ContentToFill, FilledContent } from './fill-content.ts';
import { loadTemplate } from './load-template.ts';
import { renderMessage } from './render-message.ts';
import { RenderingTooLarge } from './rendering-too-large.ts';

/** The members of a request by the part that they become. */
const memberNames: Partial<Readonly<Record<TemplatePart, string>>> = {
  subject: 'subjectLine',
  html: 'html',
  text: 'text',
};

/** Compiles and renders the content of one request, however long that takes. @param source `ContentToFill` as JSON */
export async function fillContentJob({
  source,
}: {
  readonly source: Buffer;
}): Promise<FilledContent> {
  const { values, locale, ...content } = JSON.parse(source.toString()) as ContentToFill;
  const { compiled, problems } = await compileSource({ source: content, asWritten: true });
  if (compiled === null) return { kind: 'invalid', problems: problems.flatMap(describe) };
  const builtIn = compiled.fields.filter(({ name }) => builtInFields.has(name));
  const unfilled = builtIn.map(({ name, parts: [part = 'html'] }) => ({
    field: fieldOf(part),
    reason: `{{${name}}} is filled in for stored templates only; remove it`,
  }));
  if (unfilled.length > 0) return { kind: 'invalid', problems: unfilled };
  const template = loadTemplate(locale === undefined ? compiled : { ...compiled, locale });
  const unreadable = findUnreadable(compiled, template.index, values).map(({ place, format }) => ({
    field: valueField(place),
    reason: `must be ${describeReadable(format)}`,
  }));
  if (unreadable.length > 0) return { kind: 'invalid', problems: unreadable };
  const missing = missingFields(compiled, values).map(valueField);
  if (missing.length > 0) return { kind: 'incomplete', missing };
  try {
    const { subject, html, text, warnings } = renderMessage(template, { values, locale });
    if (warnings.length === 0) return { kind: 'filled', subject, html, text };
    // A template's message is sent without what its values spoil, and its timeline says so. Here the caller can still know.
    const spoiled = warnings.map(({ field, message: reason }) => ({
      field: field === undefined ? fieldOf('subject') : valueField(field),
      reason,
    }));
    return { kind: 'unusable', problems: spoiled };
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    const field = error.field === undefined ? 'content' : valueField(error.field);
    return { kind: 'unusable', problems: [{ field, reason: error.message }] };
  }
}

function describe({ severity, part, message, line, column }: TemplateProblem): FaultDetail[] {
  if (severity !== 'error') return [];
  const position = line === undefined ? '' : ` (line ${line}, column ${column})`;
  return [{ field: fieldOf(part), reason: `${message}${position}` }];
}

function fieldOf(part: TemplatePart): string {
  return `content.${memberNames[part] ?? part}`;
}

function valueField(place: string): string {
  return `content.personalizationDataMap.${place}`;
}
