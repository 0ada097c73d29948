import type { LoadedTemplate } from './load-template.ts';

/** Line breaks of a value as bodies have them. */
const LINE_BREAK = /\r\n?/g;

/** The values of a message by the template's fields, defaults filled in, ready for a body. */
export function fieldValues(
  { names, defaults }: LoadedTemplate,
  given: Readonly<Record<string, string>>,
): string[] {
  return names.map((name, index) => {
    // Own properties only: `constructor` is a field like any other.
    const value = Object.hasOwn(given, name) ? given[name] : defaults[index];
    return normaliseValue(value ?? '');
  });
}

/** Half characters become U+FFFD: they have no form in UTF-8. */
export function normaliseValue(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed();
  return text.includes('\r') ? text.replace(LINE_BREAK, '\n') : text;
}
