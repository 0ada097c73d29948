import type { Static } from 'typebox';
import type { CompiledField } from '../../template/compiled-template.ts';
import type { FieldSettings, ItemFieldSettings } from '../../template/template-source.ts';
import type { FieldView, ItemFieldJson } from './template-views.ts';

/** The fields a version uses, with their declared settings. */
export function viewFields(
  fields: readonly CompiledField[],
  settings: Readonly<Record<string, FieldSettings>> | undefined,
): Static<typeof FieldView>[] {
  const settingsByName = new Map(Object.entries(settings ?? {}));
  return fields.map((field) => ({
    ...viewField(field, settingsByName.get(field.name)),
    secret: settingsByName.get(field.name)?.secret === true,
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
