import { newId } from '../foundation/ids.ts';
import { AuditStore } from '../session/audit-store.ts';
import type { ManifestChange, Transaction } from './manifest-change.ts';

/**
 * Writes into the audit log, in the transaction of the apply, what a manifest did to each account: how much it created,
 * changed and removed, and how many passwords it set anew. An account that it left as it was gets no entry.
 */
export async function recordApply(
  transaction: Transaction,
  changes: readonly ManifestChange[],
): Promise<void> {
  const audit = new AuditStore({ kysely: transaction });
  const origin = { remoteAddress: 'command line', requestId: newId() };
  for (const [accountId, made] of Map.groupBy(changes, ({ account }) => account)) {
    const count = (action: ManifestChange['action']) =>
      made.filter((change) => change.action === action).length;
    const detail = {
      created: count('created'),
      changed: count('changed'),
      removed: count('removed'),
      newPasswords: made.filter(({ notes }) => notes.includes('new password')).length,
    };
    if (detail.created + detail.changed + detail.removed === 0) continue;
    await audit.record({ kind: 'manifest_applied', outcome: 'success', accountId, origin, detail });
  }
}
