import { isLonger } from '../../base/values/is-longer.ts';
import { StructureChecker, type StructureProblem } from './check-structures.ts';
import type { CompileProblems } from './compile-problems.ts';
import { type FieldIndex, type IndexedField, noFields } from './field-index.ts';
import { type FieldValue, recordsOf } from './field-value.ts';
import { guardsOf, isGuardable, targetReason, withImpliedSecrets } from './guarded-field.ts';
import {
  MAX_FIELD_DEPTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELD_TEXT_LENGTH,
  MAX_FIELDS,
  MAX_LINE_LENGTH,
  MAX_SOURCE_LENGTH,
} from './template-limits.ts';
import { sourcePositionOf, type TemplatePart } from './template-problem.ts';
import type { FieldSettings, ItemFieldSettings, TemplateSource } from './template-source.ts';

type Settings = Readonly<Record<string, ItemFieldSettings>>;

/** The only control characters allowed are tab, line feed and carriage return. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

/** Checks the settings of the fields, and those of fields of items. */
function checkFields(fields: Settings, problems: CompileProblems): void {
  if (countFields(fields) > MAX_FIELDS) {
    problems.error('fields', 'too-many-fields', `lists more than ${MAX_FIELDS} fields`);
    return;
  }
  checkLevel(fields, '', 1, problems);
}

function countFields(fields: Settings): number {
  const all = Object.values(fields);
  return all.reduce((count, field) => count + countFields(field.fields ?? {}), all.length);
}

function checkLevel(
  fields: Settings,
  prefix: string,
  depth: number,
  problems: CompileProblems,
): void {
  for (const [name, settings] of Object.entries(fields)) {
    const path = `${prefix}${name}`;
    checkName(name, problems);
    checkTexts(name, path, settings, problems);
    checkKind(path, settings, depth, problems);
    checkLevel(settings.fields ?? {}, `${path}.`, depth + 1, problems);
  }
}

function checkName(name: string, problems: CompileProblems): void {
  if (name.trim() !== name || name === '' || isLonger(name, MAX_FIELD_NAME_LENGTH)) {
    problems.error(
      'fields',
      'bad-name',
      `the field name ${JSON.stringify(name)} is empty, too long or has leading or trailing spaces`,
    );
  }
}

function checkTexts(
  name: string,
  path: string,
  settings: ItemFieldSettings,
  problems: CompileProblems,
): void {
  const { default: value, sample, description } = settings;
  for (const text of [name, toText(value), toText(sample), description]) {
    if (text === undefined) continue;
    checkCharacters('fields', text, problems);
    if (isLonger(text, MAX_FIELD_TEXT_LENGTH)) {
      problems.error(
        'fields',
        'too-long',
        `the default, sample or description of the field ${path} is longer than ${MAX_FIELD_TEXT_LENGTH} characters`,
      );
    }
  }
}

/** JSON escapes what a text can't contain, so the texts of a list are checked one by one. */
function toText(value: FieldValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  const texts: string[] = [];
  const visit = (part: unknown): void => {
    if (typeof part === 'string') texts.push(part);
    else if (typeof part === 'object' && part !== null)
      for (const [name, inner] of Object.entries(part)) {
        if (!Array.isArray(part)) texts.push(name);
        visit(inner);
      }
  };
  visit(value);
  return texts.join('\n');
}

function checkKind(
  path: string,
  settings: ItemFieldSettings,
  depth: number,
  problems: CompileProblems,
): void {
  const { kind = 'text', fields, default: value, sample } = settings;
  const report = (rule: string, message: string): void => problems.error('fields', rule, message);
  if (kind === 'text' && fields !== undefined)
    report('bad-kind', `the field ${path} has fields, so its kind must be list or object`);
  if (kind !== 'text' && depth > MAX_FIELD_DEPTH)
    report('nested-too-deeply', `the field ${path} is a ${kind} more than ${MAX_FIELD_DEPTH} deep`);
  for (const [setting, given] of [
    ['default', value],
    ['sample', sample],
  ] as const) {
    if (given === undefined) continue;
    for (const { place, reason } of findValueProblems(path, settings, given))
      report('bad-value', `the ${setting} of the field ${place} ${reason}`);
  }
  if (kind !== 'text' && depth > 1 && recordsOf(value).length > 0)
    report('bad-value', `the default of the field ${path} must be empty, because it is in an item`);
}

/** A guarded field has the link of one message as its value: a text, of which a default would be the same in all. */
function checkGuards(
  fields: Readonly<Record<string, FieldSettings>>,
  problems: CompileProblems,
): void {
  for (const name of Object.keys(guardsOf(fields) ?? {})) {
    const { kind = 'text', default: value = '', sample = '' } = fields[name] ?? {};
    const report = (message: string): void =>
      problems.error('fields', 'bad-guard', `the field ${name} is guarded, so ${message}`);
    if (kind !== 'text') report('its kind must be text');
    if (value !== '') report('its default must be empty');
    if (!isGuardable(sample)) report(`its sample ${targetReason}`);
  }
}

function findValueProblems(
  path: string,
  settings: ItemFieldSettings,
  value: FieldValue,
): readonly StructureProblem[] {
  if ((settings.kind ?? 'text') === 'text')
    return typeof value === 'string' ? [] : [{ place: path, reason: 'must be a string' }];
  const checker = new StructureChecker();
  checker.check(path, indexSettings(settings), value);
  return checker.problems;
}

function indexSettings({ kind = 'text', default: value, fields }: ItemFieldSettings): IndexedField {
  const inner: FieldIndex =
    fields === undefined
      ? noFields
      : new Map(Object.entries(fields).map(([name, field]) => [name, indexSettings(field)]));
  return { kind, default: value, fields: inner };
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

const LIMITS = {
  subject: MAX_LINE_LENGTH,
  previewText: MAX_LINE_LENGTH,
  html: MAX_SOURCE_LENGTH,
  mjml: MAX_SOURCE_LENGTH,
  text: MAX_SOURCE_LENGTH,
} as const;

/** Checks the size and characters of every part; the result has line feeds only. */
export function checkSource(source: TemplateSource, problems: CompileProblems): TemplateSource {
  const cleaned: Record<string, unknown> = {
    fields: withImpliedSecrets(source.fields ?? {}),
    images: source.images,
  };
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
  checkGuards(source.fields ?? {}, problems);
  return cleaned as unknown as TemplateSource;
}

function checkText(part: keyof typeof LIMITS, text: string, problems: CompileProblems): string {
  const limit = LIMITS[part];
  if (isLonger(text, limit)) problems.error(part, 'too-long', `is longer than ${limit} characters`);
  checkCharacters(part, text, problems);
  return text.replace(/\r\n?/g, '\n');
}
