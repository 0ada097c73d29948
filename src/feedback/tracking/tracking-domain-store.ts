import { sql } from 'kysely';
import { announceChange } from '../../foundation/database/announce.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';

type Kysely = Database['kysely'];

/** Topic of announcements; the key is the account id. */
export const trackingDomainTopic = 'tracking-domain';

/** The account's own tracking host, or undefined. */
export async function readTrackingHost(
  kysely: Kysely,
  accountId: AccountId,
): Promise<string | undefined> {
  const { rows } = await sql<{ host: string }>`
    select host from tracking_domain where account_id = ${accountId}`.execute(kysely);
  return rows[0]?.host;
}

/** Sets the account's tracking host, or takes it away, and tells all nodes at commit. */
export async function saveTrackingHost(
  transaction: Kysely,
  accountId: AccountId,
  host: string | undefined,
): Promise<void> {
  if (host === undefined) {
    await sql`delete from tracking_domain where account_id = ${accountId}`.execute(transaction);
  } else {
    await sql`
      insert into tracking_domain (account_id, host) values (${accountId}, ${host})
      on conflict (account_id) do update set host = excluded.host`.execute(transaction);
  }
  await announceChange(transaction, trackingDomainTopic, accountId);
}
