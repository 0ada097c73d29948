import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import { normalizeAddress } from '../../base/values/email-address.ts';
import { newId } from '../../base/values/ids.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import { addSuppressions, removeSuppression } from '../../content/suppression/suppression-store.ts';
import { maxFeedbackEvents } from '../event-limits.ts';
import type { Unsubscription } from './unsubscribe-token.ts';

/**
 * Unsubscribes an address from an account's non-transactional mail and writes the message's event in the same commit.
 * Repeating it changes nothing. For a test message, there is only the event.
 */
export async function unsubscribe(
  kysely: Kysely,
  { accountId, messageId, retentionDays, address }: Unsubscription,
  how: 'one-click' | 'page',
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const accounts = await allRows(transaction)`
      select from account where id = ${accountId} for key share`;
    if (accounts.length === 0) return;
    const entry = { address: normalizeAddress(address), reason: 'unsubscribe' as const, messageId };
    const isTest = isTestClass(retentionDays);
    const added = isTest ? 1 : await addSuppressions(transaction, accountId, [entry]);
    if (added === 0) return;
    await run(transaction)`
      ${sql.raw(
        insertEvents({
          of: 'm',
          id: 'event.id',
          kind: 'unsubscribed',
          recipient: '0',
          detail: "json_build_object('how', event.how)",
        }),
      )}
      from (
        select account_id, id as message_id, retention_days from message
        where account_id = ${accountId} and id = ${messageId} and retention_days = ${retentionDays}) as m
      cross join (select ${newId()}::uuid as id, ${how}::text as how) as event
      where ${isTest ? 1 : maxFeedbackEvents} > (select count(*) from message_event
          where account_id = ${accountId} and message_id = ${messageId} and retention_days = ${retentionDays}
            and kind = 'unsubscribed' and recipient = 0)`;
  });
}

/** Undoes an unsubscribe; other suppression reasons remain. */
export async function resubscribe(
  kysely: Kysely,
  { accountId, retentionDays, address }: Unsubscription,
): Promise<void> {
  if (isTestClass(retentionDays)) return;
  await removeSuppression(kysely, accountId, normalizeAddress(address), 'unsubscribe');
}
