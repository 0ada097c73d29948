import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, TemplateId } from '../../foundation/ids.ts';
import { contentMembers } from '../../message/message-sql.ts';
import type { Follower } from '../feed/event-feed.ts';
import type { FeedWindow } from '../feed/event-feed-store.ts';

type Kysely = Database['kysely'];

/** Max field sets per template, in case callers make up names. */
const maxShapes = 500;

/**
 * Records which fields callers pass to a template, one row per set of names, so that publishing can check cheaply whose
 * calls a version would break. Runs after accepting, and only reads messages flagged as a new kind of call.
 */
export const recordTemplateUsage: Follower = {
  name: 'template-calls',
  follow: recordWindow,
};

async function recordWindow(transaction: Kysely, { from, until }: FeedWindow): Promise<void> {
  // Insert in key order, so that concurrent writers can't deadlock.
  await sql`
    insert into template_call as c
      (account_id, template_id, shape, fields, own_subject, own_preview, last_at, last_message_id)
    select account_id, template_id, sha256(convert_to(fields::text || own_subject || own_preview, 'UTF8')) as shape,
      fields, own_subject, own_preview, accepted_at, id
    from (
      select account_id, template_id, array(select unnest(names) order by 1) as fields, own_subject, own_preview,
        max(accepted_at) as accepted_at, max(id)::uuid as id
      from (
        -- Names as the callers gave them; only the few that differ are sorted.
        select m.account_id, m.template_id, array(select json_object_keys(c.values)) as names,
          c."subjectLine" is not null as own_subject, c."previewText" is not null as own_preview,
          max(m.accepted_at) as accepted_at, max(m.id::text) as id
        from message m
        cross join lateral ${sql.raw(contentMembers('m', 'c', ['values', 'subjectLine', 'previewText']))}
        where m.tx >= ${from}::xid8 and m.tx < ${until}::xid8 and m.new_call and m.content is not null
        group by 1, 2, 3, 4, 5) as called
      group by 1, 2, 3, 4, 5) as given
    where exists (select from account where id = given.account_id)
      and (select count(*) from template_call k
        where k.account_id = given.account_id and k.template_id = given.template_id) < ${maxShapes}
    order by 1, 2, 3
    on conflict (account_id, template_id, shape) do update
    set last_at = excluded.last_at, last_message_id = excluded.last_message_id
    where c.last_at < excluded.last_at - interval '10 minutes'`.execute(transaction);
  await sql`delete from template_call where last_at < now() - interval '31 days'`.execute(
    transaction,
  );
}

/** One way a template is called. */
export interface TemplateUsage {
  readonly fields: readonly string[];
  /** The request had its own subject line, with its own fields. */
  readonly ownSubject: boolean;
  readonly ownPreview: boolean;
  readonly lastAt: Date;
  readonly lastMessageId: string;
}

/** How a template was called in the last 30 days, latest first. */
export async function readTemplateUsage(
  kysely: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
): Promise<TemplateUsage[]> {
  const { rows } = await sql<TemplateUsage>`
    select fields, own_subject as "ownSubject", own_preview as "ownPreview", last_at as "lastAt",
      last_message_id as "lastMessageId"
    from template_call
    where account_id = ${accountId} and template_id = ${templateId} and last_at > now() - interval '30 days'
    order by last_at desc`.execute(kysely);
  return rows;
}
