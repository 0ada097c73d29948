import type { DomainDetail, DomainRecord } from '../api/management.generated.ts';

/** What only matters once mail leaves the machine. */
const laterKinds: readonly string[] = ['spf', 'return-path', 'from-spf'];

/** While mail stays on the machine, the records that name its mail server can wait. */
export function recordsNow(domain: DomainDetail): readonly DomainRecord[] {
  const { records } = domain;
  return isLocal(domain) ? records.filter(({ kind }) => !laterKinds.includes(kind)) : records;
}

/** The required records that have to be corrected or added first. */
export function requiredProblems(domain: DomainDetail) {
  const required = recordsNow(domain).filter((record) => record.required);
  const countOf = (state: 'wrong' | 'missing') =>
    required.filter((record) => record.state === state).length;
  const [wrong, missing] = [countOf('wrong'), countOf('missing')];
  const kind = wrong === 0 ? 'missing' : missing === 0 ? 'wrong' : 'both';
  return wrong + missing === 0 ? undefined : ({ kind, wrong, missing } as const);
}

/** Whether mail stays on the machine. */
export function isLocal({ problems }: DomainDetail): boolean {
  return problems.some(({ setting }) => setting === 'DELIVERY');
}
