import type { DomainDetail, DomainRecord } from '../api/management.generated.ts';

/** What only matters once mail leaves the machine. */
const laterKinds: readonly string[] = ['spf', 'return-path', 'from-spf'];

/** While mail stays on the machine, the records that name its mail server can wait. */
export function recordsNow(domain: DomainDetail): readonly DomainRecord[] {
  const { records } = domain;
  return isLocal(domain) ? records.filter(({ kind }) => !laterKinds.includes(kind)) : records;
}

/** Whether mail stays on the machine. */
export function isLocal({ problems }: DomainDetail): boolean {
  return problems.some(({ setting }) => setting === 'DELIVERY');
}
