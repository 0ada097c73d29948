import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { generateDkimKey } from '../../src/accounts/sender/dkim-key.ts';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { addSendingDomain } from '../../src/accounts/sender/sending-domain-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { EmailAddress } from '../../src/base/values/email-address.ts';
import type { AccountId, ClientId, TemplateId } from '../../src/base/values/ids.ts';
import type { MessageContent } from '../../src/content/message/message-content.ts';
import { QueueControlStore } from '../../src/sending/queue/control-store.ts';
import type { AcceptRow } from '../../src/sending/submission/accept-row.ts';
import { AcceptStore } from '../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../test/support/accept-row.ts';
import { openShop, publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { distinctValues } from '../bench-account.ts';
import { copyAccount } from '../copy-rows.ts';
import { letter } from './letter.ts';

const domain = 'shop.test';
const algorithm = 'rsa-sha256';
const maxBatchRows = 1_000;
const waitTimeoutMs = 60 * 60 * 1_000;

/** An account whose template `t-0001` is the letter, and whose domain signs. */
export async function openLetterAccount(
  database: Database,
  { id = '46100', key }: { readonly id?: string; readonly key?: KeyObject } = {},
): Promise<Shop> {
  const shop = await openShop(database, { id });
  await setUpLetter(database, shop, key);
  return shop;
}

/** The same, as a copy of a shop. */
export async function addLetterAccount(
  database: Database,
  shop: Shop,
  copyId: string,
): Promise<AccountId> {
  const id = copyId as AccountId;
  await copyAccount(database, shop.id, [id]);
  await setUpLetter(database, { ...shop, id });
  return id;
}

async function setUpLetter(database: Database, shop: Shop, given?: KeyObject): Promise<void> {
  const { kysely, pool } = database;
  const template = { id: 'letter', sender: 'orders@shop.test', source: letter };
  await publishShopTemplate(database, shop, template);
  const key = given ?? (await generateDkimKey(algorithm));
  await addSendingDomain(kysely, shop.id, domain, `bounces.${domain}`);
  const keys = new DkimKeyStore(testKey);
  await keys.add(kysely, shop.id, domain, 'bench', algorithm, key);
  for (const statement of [
    // Queued messages name version 1.
    `update template_version v set compiled = l.compiled from template_version l
     where v.account_id = $1 and v.template_id = 't-0001' and l.account_id = $1 and l.template_id = 'letter'`,
    `update dkim_key set state = 'active' where account_id = $1`,
    // No DNS lookups during the run.
    `update sending_domain set state = 'verified', next_check_at = now() + interval '1 day' where account_id = $1`,
  ])
    await pool.query(statement, [shop.id]);
}

/** Queues messages that workers leave alone until `resumeAccount`, and waits for followers, which would disturb a measurement. */
export async function fillWhilePaused(
  database: Database,
  accountId: AccountId,
  count: number,
): Promise<void> {
  await new QueueControlStore(database).control('pause', { accountId });
  const store = new AcceptStore(database.settings, 1);
  try {
    for (let from = 0; from < count; from += maxBatchRows) {
      const length = Math.min(maxBatchRows, count - from);
      await store.insert(Array.from({ length }, (_, index) => letterRow(accountId, from + index)));
    }
  } finally {
    await store.close();
  }
  await waitForFollowers(database);
}

function letterRow(accountId: AccountId, number: number): AcceptRow {
  const to = `reader${number}@example.test` as EmailAddress;
  const from = { address: 'orders@shop.test' as EmailAddress, name: 'Demo Shop' };
  const content: MessageContent = { to, from, values: distinctValues(number, 'letter') };
  return makeAcceptRow({
    accountId,
    retentionDays: 90,
    templateId: 't-0001' as TemplateId,
    transactional: true,
    trackOpens: false,
    trackClicks: false,
    newUsage: number === 0,
    clientId: 'bench' as ClientId,
    lifetimeSeconds: 48 * 60 * 60,
    recipients: [to],
    content: JSON.stringify(content),
  });
}

export async function resumeAccount(database: Database, accountId: AccountId): Promise<void> {
  await new QueueControlStore(database).control('resume', { accountId });
}

/** Resolves once every outcome is written. */
export function waitUntilQueueEmpty(database: Database, pauseMs = 2): Promise<void> {
  return waitUntilNone(database, pauseMs, 'select from queued_delivery');
}

/** Resolves once reports, search and webhooks have processed everything. */
export function waitForFollowers(database: Database): Promise<void> {
  return waitUntilNone(
    database,
    100,
    `with c as (select min(tx) as tx from feed_cursor)
     (select from message_event e, c where e.tx >= c.tx limit 1)
     union all (select from message m, c where m.tx >= c.tx limit 1)
     union all (
       select from webhook_position p join account_event_page a using (account_id)
       where (a.page, a.size) > (p.page, p.size) limit 1)`,
  );
}

async function waitUntilNone({ pool }: Database, pauseMs: number, query: string): Promise<void> {
  const probe = async () => {
    await delay(pauseMs);
    return (await pool.query(`${query} limit 1`)).rowCount === 0;
  };
  await waitFor(`no row of: ${query}`, probe, waitTimeoutMs);
}
