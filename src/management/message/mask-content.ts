import type { StoredContent } from '../../message/message-content.ts';

/** What stands in place of a secret value, for every role. */
export const mask = '••••••';

/** The content of a message without its secret values; null where the person was erased. Erased values are null. */
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

/** Values to render with, nothing secret among them. */
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
