import type { Static } from 'typebox';
import type { CompiledField } from '../../template/compiled-template.ts';
import type { FieldSettings } from '../../template/template-source.ts';
import type { FieldView } from './template-views.ts';

/** The fields a version uses, with their declared settings. */
export function viewFields(
  fields: readonly Pick<CompiledField, 'name' | 'parts'>[],
  settings: Readonly<Record<string, FieldSettings>> | undefined,
): Static<typeof FieldView>[] {
  const settingsByName = new Map(Object.entries(settings ?? {}));
  return fields.map(({ name, parts }) => {
    const fieldSettings = settingsByName.get(name) ?? {};
    return {
      name,
      parts: [...parts],
      required: fieldSettings.default === undefined,
      secret: fieldSettings.secret === true,
      default: fieldSettings.default ?? null,
      sample: fieldSettings.sample ?? null,
      description: fieldSettings.description ?? null,
    };
  });
}
