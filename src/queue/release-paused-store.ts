import { CompiledQuery } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import {
  archiveCopyAddress,
  ccAddresses,
  domainOfAddress,
  toDomain,
} from '../message/message-sql.ts';

/**
 * Reason for messages whose recipients are all at paused destinations. Also identifies which messages a resume
 * releases.
 */
export const pausedReason = 'its destination is paused';

/** Entries per statement, to keep locks short. */
const chunkSize = 500;

/**
 * Makes messages due that were deferred by a pause that has ended. Each chunk commits separately; messages missed in a
 * crash or being deferred concurrently become due at their scheduled time.
 * @param destination undefined for all destinations
 */
export async function releasePaused(
  { kysely }: Database,
  accountId: AccountId,
  destination: string | undefined,
): Promise<void> {
  let after: string | null = '00000000-0000-0000-0000-000000000000';
  while (after !== null) {
    const query = CompiledQuery.raw(releaseStatement, [
      accountId,
      destination ?? null,
      after,
      pausedReason,
    ]);
    const { rows } = await kysely.executeQuery<{ seen: number; last: string | null }>(query);
    const { seen = 0, last = null } = rows[0] ?? {};
    after = seen < chunkSize ? null : last;
  }
}

const releaseStatement = `
  with moment as materialized (select now() as now),
  chosen as materialized (
    select q.message_id from queue_entry q
    where q.account_id = $1 and q.message_id > $3 and q.reason = $4 and q.lease_owner is null
      and q.due_at < 'infinity'
      and ($2::text is null or exists (
        select from message m
        where m.account_id = $1 and m.id = q.message_id and m.retention_days = q.retention_days
          and ($2 = ${toDomain('m')} or $2 = ${domainOfAddress(archiveCopyAddress('m'))} or exists (
            select from ${ccAddresses('m')} cc
            where $2 = ${domainOfAddress('cc')}))))
    order by q.message_id limit ${chunkSize} for update of q),
  released as (
    update queue_entry q set due_at = least(q.due_at, moment.now), reason = 'resumed manually'
    from chosen, moment
    where q.account_id = $1 and q.message_id = chosen.message_id)
  select count(*)::int as seen, max(message_id::text) as last from chosen`;
