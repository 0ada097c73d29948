import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { LogWindow } from '../../foundation/log-output/log-tail.ts';
import { recipientAddress } from '../../message/message-sql.ts';
import type { AccountEvent } from '../account-event-store.ts';

type Kysely = Database['kysely'];

/** An event of any account with the contents of its webhook. */
export interface InstallationEvent extends Omit<AccountEvent, 'position'> {
  readonly accountId: string;
}

/** The events of a window in commit order; without those whose message was deleted since. */
export async function readEventWindow(
  kysely: Kysely,
  { from, until }: LogWindow,
): Promise<InstallationEvent[]> {
  const { rows } = await sql<InstallationEvent>`
    with found as (
      select account_id, id as message_id, id as event_id, retention_days, 'accepted' as kind, null::smallint as recipient,
        accepted_at as at, null::json as detail, tx
      from message where tx >= ${from}::xid8 and tx < ${until}::xid8
      union all
      select account_id, message_id, id, retention_days, kind, recipient, at, detail, tx
      from message_event where tx >= ${from}::xid8 and tx < ${until}::xid8)
    select f.account_id as "accountId", f.event_id as "eventId", f.message_id as "messageId", f.kind, f.at, f.recipient,
      coalesce(f.detail::jsonb - 'transcript', '{}') as detail, m.template_id as "templateId", m.tag,
      m.external_id as "externalId", m.content -> 'attributes' as attributes,
      ${sql.raw(recipientAddress('m', 'f.recipient'))} as address
    from found f
    join lateral (
      select template_id, tag, external_id, content from message
      where account_id = f.account_id and id = f.message_id and retention_days = f.retention_days
      limit 1) as m on true
    order by f.tx, f.at, f.event_id <> f.message_id, f.event_id`.execute(kysely);
  return rows;
}
