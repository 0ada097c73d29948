import { isLonger } from '../foundation/is-longer.ts';
import { checkCharacters, checkFields } from './check-fields.ts';
import type { CompileProblems } from './compile-problems.ts';
import { MAX_LINE_LENGTH, MAX_SOURCE_LENGTH } from './template-limits.ts';
import type { TemplateSource } from './template-source.ts';

const LIMITS = {
  subject: MAX_LINE_LENGTH,
  previewText: MAX_LINE_LENGTH,
  html: MAX_SOURCE_LENGTH,
  mjml: MAX_SOURCE_LENGTH,
  text: MAX_SOURCE_LENGTH,
} as const;

/** Checks the size and characters of every part; the result has line feeds only. */
export function checkSource(source: TemplateSource, problems: CompileProblems): TemplateSource {
  const cleaned: Record<string, unknown> = { fields: source.fields ?? {}, images: source.images };
  for (const part of ['subject', 'previewText', 'html', 'mjml', 'text'] as const) {
    const text = source[part];
    if (text !== undefined) cleaned[part] = checkText(part, text, problems);
  }
  const { html, mjml, text } = source;
  if (html !== undefined && mjml !== undefined) {
    problems.error('mjml', 'two-bodies', 'use either html or mjml, not both');
  }
  if (html === undefined && mjml === undefined && text === undefined) {
    problems.error('html', 'no-body', 'html, mjml or text is required');
  }
  checkFields(source.fields ?? {}, problems);
  return cleaned as unknown as TemplateSource;
}

function checkText(part: keyof typeof LIMITS, text: string, problems: CompileProblems): string {
  const limit = LIMITS[part];
  if (isLonger(text, limit)) problems.error(part, 'too-long', `is longer than ${limit} characters`);
  checkCharacters(part, text, problems);
  return text.replace(/\r\n?/g, '\n');
}
