import { type AuditLogEntry, readAuditLog } from '../../accounts/audit/audit-page-store.ts';
import type { AuditEvent } from '../../accounts/audit/audit-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import { onInstallation } from './open-running.ts';
import { printTable } from './shell.ts';

/** As the options call them. */
type Filters = Partial<Record<'person' | 'client' | 'kind' | 'outcome' | 'address', string>>;

interface AuditOptions extends Filters {
  readonly since?: string;
  readonly limit: string;
  readonly most?: string;
}

/** `audit`: prints the latest matching audit log entries, newest first, as a table or as JSON lines. */
export const audit = onInstallation((options: AuditOptions) => {
  const query = {
    email: options.person,
    clientId: options.client,
    kind: options.kind,
    outcome: readOutcome(options.outcome),
    remoteAddress: options.address,
    since: readTime(options.since),
    limit: readCount(options.most ?? options.limit),
  };
  return async ({ shell, database }) => {
    printTable<AuditLogEntry>(shell, await readAuditLog(database, query), [
      ['time', ({ at }) => at.toISOString()],
      ['kind', ({ kind }) => kind],
      ['outcome', ({ outcome }) => outcome],
      ['person', ({ email }) => email ?? undefined],
      ['client', ({ clientId }) => clientId ?? undefined],
      ['account', ({ accountId }) => accountId ?? undefined],
      ['address', ({ remoteAddress }) => remoteAddress ?? undefined],
      ['detail', ({ detail }) => describeDetail(detail)],
    ]);
  };
});

function describeDetail(detail: AuditLogEntry['detail']): string | undefined {
  const text = JSON.stringify(detail);
  return text === '{}' ? undefined : text;
}

function readOutcome(text: string | undefined): AuditEvent['outcome'] | undefined {
  if (text === undefined || text === 'success' || text === 'refused') return text;
  throw new OperatorError(`--outcome must be success or refused, not "${text}".`);
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseTimestamp(text) : undefined;
  if (time === undefined)
    throw new OperatorError(`--since must be a time such as 2026-01-31T12:00Z, not "${text}".`);
  return time;
}

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,5}$/.test(text) || count < 1)
    throw new OperatorError(`--limit must be a number from 1 to 99999, not "${text}".`);
  return count;
}
