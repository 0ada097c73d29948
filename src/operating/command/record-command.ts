import { type AuditEvent, recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { commandLine } from '../change/actor.ts';

/**
 * Records a command in the audit log, with the same kind that the management API uses.
 * @param transaction the transaction of the change, so that both are committed together
 */
export async function recordCommand(
  transaction: Kysely,
  event: Omit<AuditEvent, 'outcome' | 'origin'>,
): Promise<void> {
  await recordAuditEvent(transaction, { ...event, origin: commandLine().origin });
}
