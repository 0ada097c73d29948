import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { type ReaderEventKind, readerEventKinds } from '../../content/message/event-kinds.ts';
import { kindList } from '../../content/message/message-sql.ts';
import { classifyReader, type ReaderVerdict } from './classify-reader.ts';
import { knownNetworks } from './known-readers.ts';

interface StoredEngagement {
  readonly message_id: string;
  readonly retention_days: number;
  readonly id: string;
  readonly kind: ReaderEventKind;
  readonly detail: Readonly<Record<string, unknown>>;
}

const batchSize = 1_000;

/** Verdicts that are based on more than the request, so they aren't changed. */
const timingReasons = new Set([
  'followed several links at once',
  'came before the message was delivered',
  'followed the hidden link',
]);

/**
 * Reclassifies a period's opens and clicks by the current list of known readers; rebuild the account's report for that
 * period afterwards. Events with erased reader data are unchanged.
 * @returns number of events changed
 */
export async function reclassifyEngagements(
  kysely: Kysely,
  accountId: AccountId,
  from: Date,
  until: Date,
): Promise<number> {
  let changed = 0;
  let after = {
    message: '00000000-0000-0000-0000-000000000000',
    event: '00000000-0000-0000-0000-000000000000',
  };
  for (;;) {
    const rows = await allRows<StoredEngagement>(kysely)`
      select message_id, retention_days, id, kind, detail from message_event
      where account_id = ${accountId} and (message_id, id) > (${after.message}::uuid, ${after.event}::uuid)
        and kind in (${sql.raw(kindList(readerEventKinds))}) and at >= ${from} and at < ${until}
      order by message_id, id limit ${batchSize}`;
    changed += await writeVerdicts(kysely, accountId, rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return changed;
    after = { message: last.message_id, event: last.id };
  }
}

async function writeVerdicts(
  kysely: Kysely,
  accountId: AccountId,
  events: readonly StoredEngagement[],
): Promise<number> {
  const rows = events.flatMap((event) => {
    const verdict = reclassify(event);
    if (verdict === undefined || verdict.class === event.detail.class) return [];
    const { message_id, retention_days, id } = event;
    return [{ message_id, retention_days, id, class: verdict.class, reason: verdict.reason }];
  });
  if (rows.length === 0) return 0;
  const changed = await countChanged(kysely)`
    update message_event e
    set detail = (e.detail::jsonb || jsonb_build_object('class', r.class, 'reason', r.reason))::json
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r (message_id uuid, retention_days smallint, id uuid, class text, reason text)
    where e.account_id = ${accountId} and e.message_id = r.message_id and e.retention_days = r.retention_days
      and e.id = r.id`;
  return changed;
}

function reclassify({ kind, detail }: StoredEngagement): ReaderVerdict | undefined {
  const { userAgent, network, reason } = detail;
  if (typeof userAgent !== 'string' || typeof network !== 'string') return undefined;
  if (timingReasons.has(String(reason))) return undefined;
  const verdict = classifyReader({
    kind,
    userAgent,
    address: network.replace(/\/\d+$/, ''),
    hidden: detail.hidden === true,
    prefetch: reason === 'fetched ahead by the browser',
  });
  // A known network can be smaller than the one that is stored.
  const isKnown = knownNetworks.some(({ name }) => reason === `network: ${name}`);
  return isKnown && verdict.class === 'person' ? undefined : verdict;
}
