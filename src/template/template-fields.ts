import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledNode,
  CompiledTemplate,
  FieldPart,
  RequiredNames,
} from './compiled-template.ts';
import type { TemplateOverride } from './parse-override.ts';

/** The overrides of a request, parsed. */
export interface TemplateOverrides {
  readonly subjectLine?: TemplateOverride | undefined;
  readonly previewText?: TemplateOverride | undefined;
}

/** Names used anywhere in these nodes, section names included, in order of first use. */
function collectFieldNames(nodes: readonly CompiledNode[]): string[] {
  const names = new Set<string>();
  const visit = (list: readonly CompiledNode[]): void => {
    for (const node of list) {
      if (typeof node === 'string' || node.type === 'slot') continue;
      if (node.type !== 'url') names.add(node.name);
      if (node.type !== 'field') visit(node.nodes);
    }
  };
  visit(nodes);
  return Array.from(names);
}

/** The fields of a template's parts and where each is used, in order of first use. */
export function inferFields(
  parts: Readonly<Record<FieldPart, readonly CompiledNode[]>>,
): { name: string; parts: FieldPart[] }[] {
  const uses = new Map<string, FieldPart[]>();
  for (const part of ['subject', 'previewText', 'html', 'text'] as const) {
    for (const name of collectFieldNames(parts[part])) {
      const use = uses.get(name);
      if (use === undefined) uses.set(name, [part]);
      else use.push(part);
    }
  }
  return Array.from(uses, ([name, used]) => ({ name, parts: used }));
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
 * The required fields for which the map has no own key, in template order; empty if the message can be sent. An empty
 * string counts as a value.
 */
export function missingFields(
  template: CompiledTemplate,
  values: Readonly<Record<string, string>>,
  overrides: TemplateOverrides = {},
): string[] {
  return filterRequired((name) => !Object.hasOwn(values, name), template, overrides);
}

function filterRequired(
  isWanted: (name: string) => boolean,
  template: CompiledTemplate,
  overrides: TemplateOverrides,
): string[] {
  const { body, subject, previewText } = template.required;
  const names = new Set<string>();
  for (const part of [
    body,
    requiredOf(template, subject, overrides.subjectLine),
    requiredOf(template, previewText, overrides.previewText),
  ])
    for (const name of part) if (isWanted(name)) names.add(name);
  return Array.from(names);
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
