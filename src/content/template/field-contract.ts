import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledTemplate,
  FieldUses,
  PartUses,
  RequiredNames,
} from './compiled-template.ts';
import { UseCollector } from './resolve-fields.ts';
import { requiredNames } from './template-fields.ts';
import type { TemplateProblem } from './template-problem.ts';
import type { ItemFieldSettings, VariantSource } from './template-source.ts';

type Settings = Readonly<Record<string, ItemFieldSettings>>;

/** What requests must know of a version, whatever their locale is. */
export interface FieldContract {
  readonly fields: readonly CompiledField[];
  readonly required: RequiredNames;
  readonly uses?: PartUses;
}

/** Fields that a variant uses, and the default content neither uses nor declares. */
export function findForeignFields(
  settings: Settings,
  own: readonly CompiledField[],
  used: readonly CompiledField[],
  content: VariantSource,
): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const visit = (
    level: readonly CompiledField[],
    known: readonly CompiledField[],
    declared: Settings,
    path: string,
  ): void => {
    for (const field of level) {
      const { name, parts } = field;
      const same = known.find((one) => one.name === name);
      const setting = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (same === undefined && setting === undefined && !builtInFields.has(name)) {
        const [part = 'html'] = parts;
        problems.push({
          severity: 'error',
          part: part === 'html' && content.mjml !== undefined ? 'mjml' : part,
          rule: 'foreign-field',
          message: `uses the field ${path}${name}, which the default content doesn’t have; declare it under fields`,
        });
      } else if (field.fields !== undefined)
        visit(field.fields, same?.fields ?? [], setting?.fields ?? {}, `${path}${name}.`);
    }
  };
  visit(used, own, settings, '');
  return problems;
}

/** The contract of the default content and its variants together. */
export function mergeContract(
  contents: readonly {
    readonly compiled: CompiledTemplate | null;
    readonly fields: readonly CompiledField[];
  }[],
): FieldContract {
  const fields = mergeFields(contents.map((content) => content.fields));
  const uses = mergeUses(contents.flatMap(({ compiled }) => compiled?.uses ?? []));
  return { fields, required: requiredNames(fields), ...(uses === undefined ? {} : { uses }) };
}

function mergeFields(lists: readonly (readonly CompiledField[])[]): CompiledField[] {
  const merged = new Map<string, CompiledField>();
  for (const field of lists.flat()) {
    const before = merged.get(field.name);
    merged.set(field.name, before === undefined ? field : mergeField(before, field));
  }
  return [...merged.values()];
}

function mergeField(one: CompiledField, other: CompiledField): CompiledField {
  const parts = [...new Set([...one.parts, ...other.parts])];
  const { fields: inner, outside, ...rest } = one;
  const fields =
    inner === undefined && other.fields === undefined
      ? undefined
      : mergeFields([inner ?? [], other.fields ?? []]);
  return {
    ...rest,
    parts,
    ...(fields === undefined ? {} : { fields }),
    ...(outside === undefined ? {} : { outside }),
  };
}

function mergeUses(all: readonly PartUses[]): PartUses | undefined {
  if (all.length === 0) return undefined;
  const merged = (part: keyof PartUses): FieldUses => {
    const collector = new UseCollector();
    for (const { required, formatted } of all.map((uses) => uses[part])) {
      for (const use of required) collector.addRequired(use);
      for (const use of formatted) collector.addFormatted(use);
    }
    return collector.finish();
  };
  return {
    subject: merged('subject'),
    previewText: merged('previewText'),
    body: merged('body'),
  };
}
