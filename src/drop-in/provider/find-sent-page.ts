import type { MessageId } from '../../base/values/ids.ts';
import {
  findMessages,
  type MessageSearchFilter,
} from '../../outcomes/report/find-messages-store.ts';
import type { DropInRequest } from './drop-in.ts';
import { invalidMember } from './members.ts';
import { readSent, type SentRow } from './sent-message-store.ts';

/** A page of what is found. */
export interface FoundRange {
  readonly count: number;
  readonly offset: number;
}

/** One more than the end of the page says that there is another. */
export function paged<Item>(items: readonly Item[], { count, offset }: FoundRange) {
  return { TotalCount: items.length, page: items.slice(offset, offset + count) };
}

/** Messages of one statement. */
const maxFound = 500;
const maxSearchMs = 1_000;

/** A page of messages, newest first. @throws Fault VALIDATION_FAILED if the search takes too long */
export async function findSentPage(
  { services, admission }: DropInRequest,
  filter: Omit<MessageSearchFilter, 'limit'>,
  page: FoundRange,
): Promise<{ readonly total: number; readonly rows: readonly SentRow[] }> {
  const { kysely } = services.database;
  const accountId = admission.account.id;
  const end = page.offset + page.count + 1;
  const ids = new Set<MessageId>();
  const deadline = performance.now() + maxSearchMs;
  for (let before: MessageId | undefined, isLast = false; ids.size < end && !isLast; ) {
    if (performance.now() > deadline)
      throw invalidMember('fromdate', 'must be later, to search less');
    const limit = Math.min(maxFound, end - ids.size);
    const { found, next } = await findMessages(kysely, accountId, { ...filter, before, limit });
    const count = ids.size;
    for (const { messageId } of found) ids.add(messageId);
    before = next ?? found.at(-1)?.messageId;
    isLast = next === undefined && ids.size - count < limit;
  }
  const { TotalCount, page: shown } = paged([...ids], page);
  const rows = shown.length === 0 ? [] : await readSent(kysely, accountId, shown);
  return { total: TotalCount, rows };
}
