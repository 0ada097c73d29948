/**
 * Reads a query parameter whose name matches without regard to case.
 * @returns undefined if it is missing or empty
 * @throws what `repeated` makes if the query has it more than once
 */
export function readQueryParameter(
  query: Readonly<Record<string, unknown>>,
  name: string,
  repeated: () => Error,
): string | undefined {
  const values = Object.entries(query)
    .filter(([given]) => given.toLowerCase() === name)
    .flatMap(([, value]) => value);
  if (values.length > 1) throw repeated();
  const [value] = values;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
