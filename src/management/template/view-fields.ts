import type { Static } from 'typebox';
import type { CompiledField } from '../../template/compiled-template.ts';
import type { GivenValues } from '../../template/field-value.ts';
import type { FieldSettings, ItemFieldSettings } from '../../template/template-source.ts';
import type { FieldView, ItemFieldJson } from './template-views.ts';

/** The fields a version uses, with their declared settings. @param examples a value for each */
export function viewFields(
  fields: readonly CompiledField[],
  settings: Readonly<Record<string, FieldSettings>> | undefined,
  examples: GivenValues,
): Static<typeof FieldView>[] {
  const settingsByName = new Map(Object.entries(settings ?? {}));
  return fields.map((field) => ({
    ...viewField(field, settingsByName.get(field.name)),
    secret: settingsByName.get(field.name)?.secret === true,
    example: Object.hasOwn(examples, field.name) ? (examples[field.name] ?? '') : field.name,
  }));
}

function viewField(field: CompiledField, settings: ItemFieldSettings = {}): ItemFieldJson {
  const { name, kind, parts, fields } = field;
  const inner = new Map(Object.entries(settings.fields ?? {}));
  return {
    name,
    kind: kind ?? 'text',
    parts: [...parts],
    // A list that is only declared is no part of any message.
    required: settings.default === undefined && parts.length > 0,
    default: settings.default ?? null,
    sample: settings.sample ?? null,
    description: settings.description ?? null,
    ...(fields === undefined
      ? {}
      : { fields: fields.map((one) => viewField(one, inner.get(one.name))) }),
  };
}
