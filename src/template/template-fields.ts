import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledNode,
  CompiledTemplate,
  FieldPart,
  RequiredNames,
} from './compiled-template.ts';
import type { TemplateOverride } from './parse-override.ts';

/** The overrides of a request that are there, already parsed. */
export interface TemplateOverrides {
  readonly subjectLine?: TemplateOverride | undefined;
  readonly previewText?: TemplateOverride | undefined;
}

/** Names that are used anywhere in these nodes, sections' names included, in the order of first use. */
export function namesIn(nodes: readonly CompiledNode[]): string[] {
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

/** The fields of a template's parts with where each is used, in the order of first use. */
export function inferFields(
  parts: Readonly<Record<FieldPart, readonly CompiledNode[]>>,
): { name: string; parts: FieldPart[] }[] {
  const uses = new Map<string, FieldPart[]>();
  for (const part of ['subject', 'previewText', 'html', 'text'] as const) {
    for (const name of namesIn(parts[part])) {
      const use = uses.get(name);
      if (use === undefined) uses.set(name, [part]);
      else use.push(part);
    }
  }
  return Array.from(uses, ([name, used]) => ({ name, parts: used }));
}

/** Which names need a value from the request, computed once per version. */
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
 * The fields that a request has to give a value: those in use without a default. An overridden
 * subject line or preview text brings its own fields in place of the template's.
 */
export function requiredFields(
  template: CompiledTemplate,
  overrides: TemplateOverrides = {},
): string[] {
  const names = new Set(template.required.body);
  addNames(names, template, template.required.subject, overrides.subjectLine);
  addNames(names, template, template.required.previewText, overrides.previewText);
  return Array.from(names);
}

/**
 * The required fields for which the map has no own key, in the template's order; empty when the
 * message can be sent. An empty string is a value.
 */
export function missingFields(
  template: CompiledTemplate,
  values: Readonly<Record<string, string>>,
  overrides: TemplateOverrides = {},
): string[] {
  if (nothingIsMissing(template, values, overrides)) return [];
  return requiredFields(template, overrides).filter((name) => !Object.hasOwn(values, name));
}

/** The same for a request without overrides, as nearly all are, and with nothing made. */
function nothingIsMissing(
  { required }: CompiledTemplate,
  values: Readonly<Record<string, string>>,
  overrides: TemplateOverrides,
): boolean {
  if (overrides.subjectLine !== undefined || overrides.previewText !== undefined) return false;
  for (const names of [required.body, required.subject, required.previewText])
    for (const name of names) if (!Object.hasOwn(values, name)) return false;
  return true;
}

function addNames(
  names: Set<string>,
  template: CompiledTemplate,
  own: readonly string[],
  override: TemplateOverride | undefined,
): void {
  if (override === undefined) {
    for (const name of own) names.add(name);
    return;
  }
  for (const name of override.fields) {
    const field = template.fields.find((known) => known.name === name);
    if (field?.default === undefined && !builtInFields.has(name)) names.add(name);
  }
}
