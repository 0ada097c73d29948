import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { MasterKey } from '../../src/foundation/master-key.ts';
import { QueueControlStore } from '../../src/queue/control-store.ts';
import { DkimKeyStore } from '../../src/sender/dkim-key-store.ts';
import { addSendingDomain } from '../../src/sender/sending-domain-store.ts';
import { openShop, publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { benchMasterKey } from '../bench-service.ts';
import { copyAccount } from '../copy-rows.ts';
import { sinkTimeoutMs } from './bench-sink.ts';
import { fillQueue } from './fill-queue.ts';
import { letter } from './letter.ts';

const domain = 'shop.test';

/** An account whose template `t-0001` is the letter, and whose domain signs with the key. */
export async function openLetterAccount(
  database: Database,
  key: KeyObject,
  id = '46100',
): Promise<Shop> {
  const shop = await openShop(database, { id });
  await setUpLetter(database, shop, key);
  return shop;
}

/** The same as a new account beside a shop that is there already. */
export async function addLetterAccount(
  database: Database,
  key: KeyObject,
  shop: Shop,
  id: string,
): Promise<AccountId> {
  await copyAccount(database, shop.id, [id]);
  await setUpLetter(database, { ...shop, id: id as AccountId }, key);
  return id as AccountId;
}

async function setUpLetter(database: Database, shop: Shop, key: KeyObject): Promise<void> {
  await publishShopTemplate(database, shop, {
    id: 'letter',
    sender: 'orders@shop.test',
    source: letter,
  });
  await database.pool.query(
    `update template_version v set compiled = l.compiled from template_version l
     where v.account_id = $1 and v.template_id = 't-0001' and l.account_id = $1 and l.template_id = 'letter'`,
    [shop.id],
  );
  const keys = new DkimKeyStore(new MasterKey(Buffer.from(benchMasterKey, 'base64')));
  await addSendingDomain(database.kysely, shop.id, domain, `bounces.${domain}`);
  await keys.add(database.kysely, shop.id, domain, 'bench', 'rsa-sha256', key);
  await database.pool.query(`update dkim_key set state = 'active' where account_id = $1`, [
    shop.id,
  ]);
  // Nothing is to be looked for in DNS meanwhile.
  await database.pool.query(
    `update sending_domain set state = 'verified', next_check_at = now() + interval '1 day' where account_id = $1`,
    [shop.id],
  );
}

/**
 * Puts so many messages into an account's queue and keeps the workers from them until `resumeAccount`. Resolves once search
 * and reports know of them, so that following them takes no time from what is measured.
 */
export async function fillWhilePaused(
  database: Database,
  accountId: AccountId,
  count: number,
): Promise<void> {
  await new QueueControlStore(database).control('pause', { accountId });
  await fillQueue(database, accountId, count);
  await waitForFollowers(database);
}

export async function resumeAccount(database: Database, accountId: AccountId): Promise<void> {
  await new QueueControlStore(database).control('resume', { accountId });
}

/** Resolves once every outcome is written. */
export function waitUntilQueueEmpty(database: Database): Promise<void> {
  return waitUntilFalse(database, 2, 'select exists (select from queue_entry) as answer');
}

/** Resolves once reports, search and webhooks have seen all that was written, so that they take no time from others. */
export function waitForFollowers(database: Database): Promise<void> {
  return waitUntilFalse(
    database,
    100,
    `with c as (select min(tx) as tx from feed_cursor)
     select exists (select from message_event e, c where e.tx >= c.tx)
       or exists (select from message m, c where m.tx >= c.tx) as answer`,
  );
}

async function waitUntilFalse(database: Database, pause: number, question: string): Promise<void> {
  const end = performance.now() + sinkTimeoutMs;
  while (performance.now() < end) {
    const { rows } = await database.pool.query<{ answer: boolean }>(question);
    if (rows[0]?.answer === false) return;
    await delay(pause);
  }
  throw new Error(`in vain waited for the end of: ${question}`);
}
