/** The statements of a migration, without comments. Bodies in dollar quotes stay whole. */
export function splitStatements(sql: string): string[] {
  const parts = sql
    .replaceAll(/^\s*--.*$/gm, '')
    .match(/(?:\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|[^;])+/g);
  return (parts ?? []).map((part) => part.trim().replaceAll(/\s+/g, ' ')).filter(Boolean);
}
