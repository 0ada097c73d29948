/** Max items of a list in a response, and max characters of a text; the rest is counted or cut. */
const maxItems = 100;
const maxText = 2_000;
const maxDepth = 12;

/** A response of the management API, small enough for a model's context. */
export function boundAnswer(value: unknown, depth = 0): unknown {
  if (typeof value === 'string')
    return value.length <= maxText ? value : `${value.slice(0, maxText)}… (${value.length} in all)`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => boundAnswer(item, depth + 1));
    return value.length <= maxItems ? items : [...items, `… (${value.length} in all)`];
  }
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [name, boundAnswer(member, depth + 1)]),
  );
}
