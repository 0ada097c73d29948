import { normalizeValue } from '../template/normalize-value.ts';
import type { LoadedTemplate } from './load-template.ts';

/** The values of a message in the order of the template's fields, with defaults filled in and normalized for a body. */
export function fieldValues(
  { names, defaults }: LoadedTemplate,
  given: Readonly<Record<string, string>>,
): string[] {
  return names.map((name, index) => {
    // Own properties only: `constructor` is an ordinary field name.
    const value = Object.hasOwn(given, name) ? given[name] : defaults[index];
    return normalizeValue(value ?? '');
  });
}
