import { builtInFields } from './built-in-fields.ts';
import { missingItemFields, unreadableValues } from './check-uses.ts';
import type {
  CompiledField,
  CompiledTemplate,
  FieldPart,
  FieldUses,
  RequiredNames,
} from './compiled-template.ts';
import type { FieldFormat } from './field-format.ts';
import type { FieldIndex } from './field-index.ts';
import type { GivenValues } from './field-value.ts';
import type { TemplateOverride } from './parse-override.ts';

/** The overrides of a request, parsed. */
export interface TemplateOverrides {
  readonly subjectLine?: TemplateOverride | undefined;
  readonly previewText?: TemplateOverride | undefined;
}

/** The names that need a value from the request, computed once per version. */
export function requiredNames(fields: readonly CompiledField[]): RequiredNames {
  const used = (...parts: readonly FieldPart[]): string[] =>
    fields
      .filter(
        (field) =>
          field.default === undefined &&
          !builtInFields.has(field.name) &&
          parts.some((part) => field.parts.includes(part)),
      )
      .map(({ name }) => name);
  return { subject: used('subject'), previewText: used('previewText'), body: used('html', 'text') };
}

/**
 * The fields that a request must supply: those in use without a default. An overridden subject line or preview text
 * contributes its own fields instead of the template's.
 */
export function requiredFields(
  template: CompiledTemplate,
  overrides: TemplateOverrides = {},
): string[] {
  return filterRequired(() => true, template, overrides);
}

/**
 * The required fields for which the map has no own key, in template order, then the places in items that lack a value,
 * such as `Items[3].Price`; empty if the message can be sent. An empty string counts as a value.
 */
export function missingFields(
  template: CompiledTemplate,
  values: GivenValues,
  overrides: TemplateOverrides = {},
): string[] {
  const missing = filterRequired((name) => !Object.hasOwn(values, name), template, overrides);
  const uses = usesOf(template, overrides);
  return uses.length === 0 ? missing : [...missing, ...missingItemFields(uses, values)];
}

/** The values that a helper can't read, by their place in the map. */
export function findUnreadable(
  template: CompiledTemplate,
  fields: FieldIndex,
  values: GivenValues,
  overrides: TemplateOverrides = {},
): { readonly place: string; readonly format: FieldFormat }[] {
  const uses = usesOf(template, overrides);
  return uses.length === 0 ? [] : unreadableValues(uses, fields, values);
}

/** Uses of the parts that a message is made of. */
function usesOf(
  { uses }: CompiledTemplate,
  { subjectLine, previewText }: TemplateOverrides,
): readonly FieldUses[] {
  if (uses === undefined && subjectLine?.uses === undefined && previewText?.uses === undefined)
    return [];
  return [
    uses?.body,
    subjectLine === undefined ? uses?.subject : subjectLine.uses,
    previewText === undefined ? uses?.previewText : previewText.uses,
  ].filter((part) => part !== undefined);
}

function filterRequired(
  isWanted: (name: string) => boolean,
  template: CompiledTemplate,
  overrides: TemplateOverrides,
): string[] {
  const { body, subject, previewText } = template.required;
  // Most requests lack none.
  let names: Set<string> | undefined;
  for (const part of [
    body,
    requiredOf(template, subject, overrides.subjectLine),
    requiredOf(template, previewText, overrides.previewText),
  ])
    for (const name of part)
      if (isWanted(name)) {
        names ??= new Set();
        names.add(name);
      }
  return names === undefined ? [] : Array.from(names);
}

function requiredOf(
  template: CompiledTemplate,
  own: readonly string[],
  override: TemplateOverride | undefined,
): readonly string[] {
  if (override === undefined) return own;
  return override.fields.filter((name) => {
    const field = template.fields.find((candidate) => candidate.name === name);
    return field?.default === undefined && !builtInFields.has(name);
  });
}
