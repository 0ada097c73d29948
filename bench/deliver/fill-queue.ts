import type { Database } from '../../src/foundation/database/open-database.ts';
import type { EmailAddress } from '../../src/foundation/email-address.ts';
import {
  type AccountId,
  type ClientId,
  newMessageId,
  type TemplateId,
} from '../../src/foundation/ids.ts';
import type { MessageContent } from '../../src/message/message-content.ts';
import type { AcceptRow } from '../../src/submission/accept-row.ts';
import { AcceptStore } from '../../src/submission/accept-store.ts';
import { letterValues } from './letter.ts';

/** Messages of one statement. */
const maxBatchRows = 1_000;

/** Puts so many accepted messages of the letter into an account's queue. */
export async function fillQueue(
  database: Database,
  accountId: AccountId,
  count: number,
): Promise<void> {
  const store = new AcceptStore(database.settings, 1);
  try {
    for (let from = 0; from < count; from += maxBatchRows) {
      const length = Math.min(maxBatchRows, count - from);
      await store.insert(Array.from({ length }, (_, index) => letterRow(accountId, from + index)));
    }
  } finally {
    await store.close();
  }
}

function letterRow(accountId: AccountId, number: number): AcceptRow {
  const to = `reader${number}@example.test` as EmailAddress;
  const from = { address: 'orders@shop.test' as EmailAddress, name: 'Demo Shop' };
  const content: MessageContent = { to, from, values: letterValues(number) };
  return {
    accountId,
    id: newMessageId(),
    retentionDays: 90,
    templateId: 't-0001' as TemplateId,
    templateVersion: 1,
    transactional: true,
    trackOpens: false,
    trackClicks: false,
    deliverWhenDelayed: true,
    newUsage: number === 0,
    externalId: undefined,
    tag: undefined,
    clientId: 'bench' as ClientId,
    lifetimeSeconds: 48 * 60 * 60,
    recipients: [to],
    suppressed: [],
    content: JSON.stringify(content),
    key: undefined,
  };
}
