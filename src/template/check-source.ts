import type { CompileProblems } from './compile-problems.ts';
import {
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELD_TEXT_LENGTH,
  MAX_FIELDS,
  MAX_LINE_LENGTH,
  MAX_SOURCE_LENGTH,
} from './template-limits.ts';
import { sourcePositionOf, type TemplatePart } from './template-problem.ts';
import type { TemplateSource } from './template-source.ts';

/** The only control characters allowed are tab, line feed and carriage return. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

const LIMITS = {
  subject: MAX_LINE_LENGTH,
  previewText: MAX_LINE_LENGTH,
  html: MAX_SOURCE_LENGTH,
  mjml: MAX_SOURCE_LENGTH,
  text: MAX_SOURCE_LENGTH,
} as const;

/** Checks the size and characters of every part; the result has line feeds only. */
export function checkSource(source: TemplateSource, problems: CompileProblems): TemplateSource {
  const cleaned: Record<string, unknown> = { fields: source.fields ?? {} };
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
  checkFields(source, problems);
  return cleaned as unknown as TemplateSource;
}

function checkText(part: keyof typeof LIMITS, text: string, problems: CompileProblems): string {
  const limit = LIMITS[part];
  if (text.length > limit) problems.error(part, 'too-long', `is longer than ${limit} characters`);
  checkCharacters(part, text, problems);
  return text.replace(/\r\n?/g, '\n');
}

function checkCharacters(part: TemplatePart, text: string, problems: CompileProblems): void {
  const control = CONTROL.exec(text);
  if (control !== null) {
    problems.error(
      part,
      'control-character',
      'contains a control character',
      sourcePositionOf(text, control.index),
    );
  }
  if (!text.isWellFormed()) {
    problems.error(part, 'broken-character', 'contains an unpaired surrogate');
  }
}

function checkFields({ fields = {} }: TemplateSource, problems: CompileProblems): void {
  const entries = Object.entries(fields);
  if (entries.length > MAX_FIELDS) {
    problems.error('fields', 'too-many-fields', `lists more than ${MAX_FIELDS} fields`);
  }
  for (const [name, settings] of entries) {
    if (name.trim() !== name || name === '' || Array.from(name).length > MAX_FIELD_NAME_LENGTH) {
      problems.error(
        'fields',
        'bad-name',
        `the field name ${JSON.stringify(name)} is empty, too long or has leading or trailing spaces`,
      );
    }
    for (const text of [name, settings.default, settings.sample, settings.description]) {
      if (text === undefined) continue;
      checkCharacters('fields', text, problems);
      if (text.length > MAX_FIELD_TEXT_LENGTH) {
        problems.error(
          'fields',
          'too-long',
          `the default, sample or description of the field ${name} is longer than ${MAX_FIELD_TEXT_LENGTH} characters`,
        );
      }
    }
  }
}
