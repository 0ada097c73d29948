import type { AcceptRow } from '../../submission/accept-row.ts';
import { Problem } from '../answer/problem.ts';
import { inTransaction, record } from '../change-resource.ts';
import type { Call } from '../endpoint.ts';

/**
 * Stores a message that a person sends by the API. Messages are committed in groups of their own, so that it was asked
 * for stands in the audit log before it can be sent; where it is not stored after all, that stands there too.
 * @throws Problem or Fault where it is not stored
 */
export async function acceptByHand(
  call: Call,
  event: { readonly kind: string; readonly id: string },
  row: AcceptRow,
): Promise<void> {
  const note = (outcome: 'success' | 'refused') =>
    inTransaction(call, (transaction) =>
      record(call, transaction, event.kind, event.id, { messageId: row.id }, outcome),
    );
  await note('success');
  try {
    const outcome = await call.parts.accept(row);
    if (outcome.kind === 'suppressed')
      throw new Problem('conflict', `A recipient is suppressed: ${outcome.addresses.join(', ')}`);
    if (outcome.kind !== 'accepted') throw new Problem('unavailable', 'It could not be stored');
  } catch (error) {
    await note('refused');
    throw error;
  }
}
