import { type Principal, personOf } from '../../accounts/access/principal.ts';
import {
  type AuditEvent,
  type RequestOrigin,
  recordAuditEvent,
} from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { newId } from '../../base/values/ids.ts';

/** Who makes a change, from where, and in which account. */
export interface Actor {
  /**
   * Undefined for commands: there is no sign-in, so the operating system controls who can run them. Also for readers of the
   * inbox, who are no one.
   */
  readonly principal?: Principal | undefined;
  readonly origin: RequestOrigin;
  /** Undefined for installation-wide changes. */
  readonly accountId?: string | undefined;
}

/** The actor of a command, including one that applies a manifest. */
export function commandLine(accountId?: string): Actor {
  return { origin: { remoteAddress: 'command line', requestId: newId() }, accountId };
}

/** Records a change in the audit log, in the transaction that makes it. */
export async function recordChange(
  transaction: DatabaseTransaction,
  { principal, origin, accountId }: Actor,
  kind: string,
  id: string,
  detail: NonNullable<AuditEvent['detail']> = {},
  outcome?: AuditEvent['outcome'],
): Promise<void> {
  const byKey: AuditEvent['detail'] = principal?.kind === 'key' ? { apiKey: principal.keyId } : {};
  await recordAuditEvent(transaction, {
    kind,
    outcome,
    personId: principal && personOf(principal),
    accountId,
    origin,
    detail: { id, ...byKey, ...detail },
  });
}
