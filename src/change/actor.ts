import { type Principal, personOf } from '../access/principal.ts';
import { type AuditEvent, AuditStore, type RequestOrigin } from '../audit/audit-store.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import { newId } from '../foundation/ids.ts';

/** Who changes something, from where, and in which account. */
export interface Actor {
  /** Undefined where nobody is signed in: at a command line, who may run it is up to the machine. */
  readonly principal?: Principal | undefined;
  readonly origin: RequestOrigin;
  /** Undefined: the change is the installation's. */
  readonly accountId?: string | undefined;
}

/** Whoever runs a command, or applies a manifest by one. */
export function commandLine(accountId?: string): Actor {
  return { origin: { remoteAddress: 'command line', requestId: newId() }, accountId };
}

/** Writes into the audit log who did what to which thing, within the transaction that does it. */
export async function recordChange(
  transaction: DatabaseTransaction,
  { principal, origin, accountId }: Actor,
  kind: string,
  id: string,
  detail: NonNullable<AuditEvent['detail']> = {},
  outcome: AuditEvent['outcome'] = 'success',
): Promise<void> {
  const byKey: AuditEvent['detail'] = principal?.kind === 'key' ? { apiKey: principal.keyId } : {};
  await new AuditStore({ kysely: transaction }).record({
    kind,
    outcome,
    personId: principal && personOf(principal),
    accountId,
    origin,
    detail: { id, ...byKey, ...detail },
  });
}
