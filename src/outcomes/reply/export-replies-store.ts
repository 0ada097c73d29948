import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';

/** Each with up to 2 MiB of text and HTML. */
const pageSize = 4;
/** Longer texts are omitted; download them as parts of the reply. */
const maxTextBytes = 1_024 * 1_024;

/** The replies that a person wrote, oldest first, with their text and HTML. */
export async function* exportReplies(
  kysely: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await allRows<Record<string, unknown> & { id: string }>(kysely)`
      select r.id, r.message_id, r.received_at, r.automatic, r.content,
        (select json_object_agg(p.kind, convert_from(
            case when octet_length(c.content) > ${maxTextBytes} then ''::bytea else c.content end, 'UTF8'))
          from json_to_recordset(r.content -> 'parts') as p (kind text, sha256 text)
          join attachment_content c on c.account_id = r.account_id and c.sha256 = decode(p.sha256, 'hex')
          where p.kind in ('text', 'html')) as texts
      from message_reply r
      where r.account_id = ${accountId} and r.sender = ${address} and r.id > ${after}
      order by r.id limit ${pageSize}`;
    for (const reply of rows) {
      after = reply.id;
      yield reply;
    }
    if (rows.length < pageSize) return;
  }
}
