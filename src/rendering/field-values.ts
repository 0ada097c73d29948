import { normalizeValue } from '../template/normalize-value.ts';
import type { LoadedTemplate } from './load-template.ts';

/** The values of a message by the template's fields, defaults filled in, ready for a body. */
export function fieldValues(
  { names, defaults }: LoadedTemplate,
  given: Readonly<Record<string, string>>,
): string[] {
  return names.map((name, index) => {
    // Own properties only: `constructor` is a field like any other.
    const value = Object.hasOwn(given, name) ? given[name] : defaults[index];
    return normalizeValue(value ?? '');
  });
}
