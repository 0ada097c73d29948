import { AuditStore } from '../audit/audit-store.ts';
import { type Actor, commandLine, recordChange } from '../change/actor.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { ManifestChange } from './manifest-change.ts';

/**
 * Records an apply in the audit log, in its transaction: an entry per created, changed or removed resource, and a
 * summary per account with the number of new passwords. The entries have no actor, because the command line has no
 * signed-in user.
 */
export async function recordApply(
  transaction: DatabaseTransaction,
  changes: readonly ManifestChange[],
): Promise<void> {
  const { origin } = commandLine();
  for (const [accountId, accountChanges] of Map.groupBy(changes, ({ account }) => account)) {
    for (const change of accountChanges)
      await recordOne(transaction, { origin, accountId }, change);
    const count = (action: ManifestChange['action']) =>
      accountChanges.filter((change) => change.action === action).length;
    const detail = {
      created: count('created'),
      changed: count('changed'),
      removed: count('removed'),
      newPasswords: accountChanges.filter(({ notes }) => notes.includes('first password')).length,
    };
    if (detail.created + detail.changed + detail.removed === 0) continue;
    const audit = new AuditStore({ kysely: transaction });
    await audit.record({ kind: 'manifest_applied', outcome: 'success', accountId, origin, detail });
  }
}

async function recordOne(
  transaction: DatabaseTransaction,
  actor: Actor,
  { action, kind, id, notes, changed }: ManifestChange,
): Promise<void> {
  if (action === 'unchanged') return;
  await recordChange(transaction, actor, `${kind}_${action}`, id, {
    ...(changed === undefined ? {} : { changed: changed.join(', ') }),
    ...(notes.length === 0 ? {} : { notes: notes.join('; ') }),
  });
}
