import type { AcceptRow } from '../../submission/accept-row.ts';
import { Problem } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';

/**
 * Stores a message that a person sends by the API. Messages are committed in groups of their own, so that it was asked
 * for stands in the audit log before it can be sent; where it is not stored after all, that stands there too.
 * @throws Problem or Fault where it is not stored
 */
export async function acceptManually(
  call: OperationCall,
  event: { readonly kind: string; readonly id: string },
  row: AcceptRow,
): Promise<void> {
  const recordOutcome = (outcome: 'success' | 'refused') =>
    inTransaction(call, (transaction) =>
      recordAudit(call, transaction, event.kind, event.id, { messageId: row.id }, outcome),
    );
  await recordOutcome('success');
  try {
    const outcome = await call.dependencies.accept(row);
    if (outcome.kind === 'suppressed')
      throw new Problem('conflict', `A recipient is suppressed: ${outcome.addresses.join(', ')}`);
    if (outcome.kind !== 'accepted') throw new Problem('unavailable', 'It could not be stored');
  } catch (error) {
    await recordOutcome('refused');
    throw error;
  }
}
