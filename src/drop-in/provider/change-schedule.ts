import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { MessageId } from '../../base/values/ids.ts';
import { ScheduleStore } from '../../sending/queue/schedule-store.ts';
import type { DropInRequest } from './drop-in.ts';

/**
 * Cancels what waits for its time, or moves it.
 * @param which a message, or those with an external ID
 * @returns how many messages changed
 */
export async function changeSchedule(
  { services, admission, origin }: DropInRequest,
  which: { readonly messageId: MessageId } | { readonly externalId: string },
  sendAt?: Date,
): Promise<number> {
  const { clientId, account } = admission;
  const selection = { accountId: account.id, ...which };
  const detail = { id: 'messageId' in which ? which.messageId : which.externalId };
  const kind = sendAt === undefined ? 'schedule_cancel' : 'schedule_move';
  const record = (transaction: DatabaseTransaction): Promise<void> =>
    recordAuditEvent(transaction, { kind, accountId: account.id, clientId, origin, detail });
  const store = new ScheduleStore(services.database);
  const { changed } =
    sendAt === undefined
      ? await store.cancel(selection, record)
      : await store.move(selection, sendAt, record);
  return changed;
}
