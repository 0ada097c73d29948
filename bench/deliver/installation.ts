import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { MasterKey } from '../../src/foundation/master-key.ts';
import { DkimKeyStore } from '../../src/sender/dkim-key-store.ts';
import { addDomain } from '../../src/sender/sending-domain-store.ts';
import { openShop, publishTemplate, type Shop } from '../../test/support/shop.ts';
import { benchKey } from '../bench-service.ts';
import { patience } from './bench-sink.ts';
import { letter } from './letter.ts';

const domain = 'shop.test';

/** An account whose template `t-0001` is the letter, and whose domain signs with the key. */
export async function openLetterAccount(
  database: Database,
  key: KeyObject,
  id = '46100',
): Promise<Shop> {
  const shop = await openShop(database, { id });
  await publishTemplate(database, shop, {
    id: 'letter',
    sender: 'orders@shop.test',
    source: letter,
  });
  await database.pool.query(
    `update template_version v set compiled = l.compiled from template_version l
     where v.account_id = $1 and v.template_id = 't-0001' and l.account_id = $1 and l.template_id = 'letter'`,
    [id],
  );
  const keys = new DkimKeyStore(new MasterKey(Buffer.from(benchKey, 'base64')));
  await addDomain(database.kysely, shop.id, domain, `bounces.${domain}`);
  await keys.add(database.kysely, shop.id, domain, 'bench', 'rsa-sha256', key);
  await database.pool.query(`update dkim_key set state = 'active'`);
  // Nothing is to be looked for in DNS meanwhile.
  await database.pool.query(
    `update sending_domain set state = 'verified', next_check_at = now() + interval '1 day'`,
  );
  return shop;
}

/** Keeps the workers from an account's messages, so that a queue can be filled before it is measured. */
export async function pauseAccount(database: Database, accountId: AccountId): Promise<void> {
  await database.pool.query(
    `insert into delivery_pause (account_id, destination) values ($1, '*') on conflict do nothing`,
    [accountId],
  );
}

export async function resumeAccount(database: Database, accountId: AccountId): Promise<void> {
  await database.pool.query('delete from delivery_pause where account_id = $1', [accountId]);
}

/** Resolves once every outcome is written. */
export function untilQueueIsEmpty(database: Database): Promise<void> {
  return untilFalse(database, 2, 'select exists (select from queue_entry) as answer');
}

/** Resolves once reports, search and webhooks have seen all that was written, so that they take no time from others. */
export function untilFollowersCaughtUp(database: Database): Promise<void> {
  return untilFalse(
    database,
    100,
    `with c as (select min(tx) as tx from feed_cursor)
     select exists (select from message_event e, c where e.tx >= c.tx)
       or exists (select from message m, c where m.tx >= c.tx) as answer`,
  );
}

async function untilFalse(database: Database, pause: number, question: string): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    const { rows } = await database.pool.query<{ answer: boolean }>(question);
    if (rows[0]?.answer === false) return;
    await delay(pause);
  }
  throw new Error(`in vain waited for the end of: ${question}`);
}
