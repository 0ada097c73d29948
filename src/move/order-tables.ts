/**
 * Orders tables so that each comes after those it refers to: rows can then be written while foreign keys are checked, without
 * a superuser's rights.
 * @param references pairs of a table and one that it refers to; other names are ignored
 * @throws Error if tables refer to each other in a circle
 */
export function orderTables(
  names: readonly string[],
  references: readonly (readonly [from: string, to: string])[],
): string[] {
  const open = new Set(names);
  const ordered: string[] = [];
  while (open.size > 0) {
    const free = [...open].filter(
      (name) => !references.some(([from, to]) => from === name && to !== name && open.has(to)),
    );
    if (free.length === 0) throw new Error(`${[...open].join(', ')} refer to each other`);
    for (const name of free) {
      open.delete(name);
      ordered.push(name);
    }
  }
  return ordered;
}
