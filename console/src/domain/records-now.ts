import type { DomainDetail, DomainRecord } from '../api/management.generated.ts';

/** What only matters once mail leaves the machine. */
const laterKinds: readonly string[] = ['spf', 'return-path', 'from-spf'];

/** While mail stays on the machine, the records that name its mail server can wait. */
export function recordsNow({ records, problems }: DomainDetail): readonly DomainRecord[] {
  const isLocal = problems.some(({ setting }) => setting === 'DELIVERY');
  return isLocal ? records.filter(({ kind }) => !laterKinds.includes(kind)) : records;
}
