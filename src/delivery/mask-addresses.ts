/**
 * Replaces recipients in a text with `<to>` and `<cc 1>`. Personal data stays in one row, so erasing that row is enough
 * to erase the person.
 */
export function maskAddresses(text: string, recipients: readonly string[]): string {
  if (!text.includes('@')) return text;
  let masked = text;
  recipients.forEach((address, recipient) => {
    const name = recipient === 0 ? '<to>' : `<cc ${recipient}>`;
    masked = replaceAny(replaceAny(masked, `<${address}>`, name), address, name);
  });
  return masked;
}

/** Masks every string in a JSON value. */
export function maskDeep(value: unknown, recipients: readonly string[]): unknown {
  if (typeof value === 'string') return maskAddresses(value, recipients);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, recipients));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, maskDeep(item, recipients)]),
  );
}

/** Case-insensitive, because servers often reply in lower case. */
function replaceAny(text: string, part: string, by: string): string {
  const lower = text.toLowerCase();
  const wanted = part.toLowerCase();
  // Lowercasing can change the length of non-ASCII text; then only the exact spelling is replaced.
  if (lower.length !== text.length || wanted.length !== part.length)
    return text.replaceAll(part, by);
  let result = '';
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    result += text.slice(from, at) + by;
    from = at + wanted.length;
  }
  return from === 0 ? text : result + text.slice(from);
}
