import { type AuditEvent, AuditStore } from '../audit/audit-store.ts';
import { commandLine } from '../change/actor.ts';
import type { Database } from '../foundation/database/open-database.ts';

/**
 * Writes into the audit log what an operator does by command, under the kind that the management API gives to the same.
 * @param transaction that of the change, so that neither is there without the other
 */
export async function recordCommand(
  transaction: Database['kysely'],
  event: Omit<AuditEvent, 'outcome' | 'origin'>,
): Promise<void> {
  await new AuditStore({ kysely: transaction }).record({
    ...event,
    outcome: 'success',
    origin: commandLine().origin,
  });
}
