import type { MessageContent } from '../../submission/message-content.ts';

/** Shown instead of a secret value, to every role. */
export const mask = '••••••';

/** Masks secret values. Null if the content was erased; erased values are null. */
export function maskContent(
  content: MessageContent | null,
  secret: ReadonlySet<string>,
): (Omit<MessageContent, 'values'> & { values: Record<string, string | null> }) | null {
  if (content === null) return null;
  const values = Object.entries<string | null>(content.values).map(([name, value]) => [
    name,
    value !== null && secret.has(name) ? mask : value,
  ]);
  return { ...content, values: Object.fromEntries(values) };
}

/** Values for rendering, with secret and erased ones masked. */
export function maskedValues(
  content: MessageContent,
  secret: ReadonlySet<string>,
): Record<string, string> {
  const values = Object.entries<string | null>(content.values).map(([name, value]) => [
    name,
    value === null || secret.has(name) ? mask : value,
  ]);
  return Object.fromEntries(values);
}
