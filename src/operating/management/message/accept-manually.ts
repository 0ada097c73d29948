import type { TraceContext } from '../../../base/telemetry/trace-context.ts';
import type { MessageContent } from '../../../content/message/message-content.ts';
import type { AcceptOutcome, AcceptRow } from '../../../sending/submission/accept-row.ts';
import { traceAccept } from '../../../sending/submission/trace-accept.ts';
import { conflict, Problem } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';

/**
 * Stores a message sent through the management API. Messages are committed in groups, so the audit event needs a
 * separate transaction: it's recorded first, and a second event follows if storing fails.
 * @throws Problem or Fault if the message isn't stored
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
    const outcome = await accept(call, row);
    if (outcome.kind === 'suppressed')
      throw conflict(`A recipient is suppressed: ${outcome.addresses.join(', ')}`);
    if (outcome.kind !== 'accepted')
      throw new Problem('unavailable', 'The message couldn’t be stored. Retry shortly');
  } catch (error) {
    await recordOutcome('refused');
    throw error;
  }
}

function accept({ dependencies, request }: OperationCall, row: AcceptRow): Promise<AcceptOutcome> {
  return traceAccept(
    request.span,
    row,
    (trace) => dependencies.accept(trace === undefined ? row : withTrace(row, trace)),
    () => row.id,
  );
}

function withTrace(row: AcceptRow, trace: TraceContext): AcceptRow {
  const content = JSON.parse(row.content) as MessageContent;
  return { ...row, content: JSON.stringify({ ...content, trace } satisfies MessageContent) };
}
