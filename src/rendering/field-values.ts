import { type GivenValues, textOfValue } from '../template/field-value.ts';
import type { LoadedTemplate } from './load-template.ts';

/**
 * The texts of a message's values in the order of the template's fields, with defaults filled in and normalized for a
 * body.
 */
export function fieldValues({ names, defaults }: LoadedTemplate, given: GivenValues): string[] {
  return names.map((name, index) =>
    // Own properties only: `constructor` is an ordinary field name.
    textOfValue(Object.hasOwn(given, name) ? given[name] : defaults[index]),
  );
}
