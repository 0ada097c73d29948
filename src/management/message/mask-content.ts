import type { StoredContent } from '../../message/message-content.ts';

/** Shown instead of a secret value, to every role. */
export const mask = '••••••';

/** Masks secret values. Null if the content was erased; erased values are null. */
export function maskContent(
  content: StoredContent | null,
  secret: ReadonlySet<string>,
): StoredContent | null {
  if (content === null) return null;
  const values = Object.entries(content.values).map(([name, value]) => [
    name,
    value !== null && secret.has(name) ? mask : value,
  ]);
  return { ...content, values: Object.fromEntries(values) };
}

/** Values for rendering, with secret and erased ones masked. */
export function maskedValues(
  content: StoredContent,
  secret: ReadonlySet<string>,
): Record<string, string> {
  const values = Object.entries(content.values).map(([name, value]) => [
    name,
    value === null || secret.has(name) ? mask : value,
  ]);
  return Object.fromEntries(values);
}
