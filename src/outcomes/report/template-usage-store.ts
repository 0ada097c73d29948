import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import { contentMembers } from '../../content/message/message-sql.ts';
import {
  MAX_FIELD_DEPTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELDS,
} from '../../content/template/template-limits.ts';
import { type Follower, readersRestMs } from '../feed/event-feed.ts';
import { type FeedRange, inLanes, inWindow } from '../feed/feed-window-store.ts';

/** Sets of names kept for one template; callers that invent names get no more. */
const maxShapes = 500;
/** Names kept of one call beside those in its items: templates can't have more, and nobody publishes against invented ones. */
const maxNames = 2 * MAX_FIELDS;

/**
 * Records after acceptance which fields callers sent values for: one row for each set of names, so that
 * publishing can tell cheaply whom a version would refuse. Accepting pays nothing for it, and only messages that say that
 * their call is new are read.
 */
export const recordTemplateUsage: Follower = {
  name: 'template-calls',
  restMs: readersRestMs,
  follow: recordWindow,
};

async function recordWindow(transaction: Kysely, range: FeedRange): Promise<void> {
  // Rows go in the order of the key, so that two writers never wait for each other crosswise.
  await run(transaction)`
    insert into template_call as c
      (account_id, template_id, shape, fields, own_subject, own_preview, last_at, last_message_id)
    select account_id, template_id, sha256(convert_to(fields::text || own_subject || own_preview, 'UTF8')) as shape,
      fields, own_subject, own_preview, accepted_at, id
    from (
      select account_id, template_id, array(select unnest(names) order by 1) as fields, own_subject, own_preview,
        max(accepted_at) as accepted_at, max(id)::uuid as id
      from (
        -- Names as the callers gave them; only the few that differ are sorted.
        select m.account_id, m.template_id, ${namesOf(sql.raw('c.values'))} as names,
          c."subjectLine" is not null as own_subject, c."previewText" is not null as own_preview,
          max(m.accepted_at) as accepted_at, max(m.id::text) as id
        from message m
        cross join lateral ${sql.raw(contentMembers('m', 'c', ['values', 'subjectLine', 'previewText']))}
        where ${inWindow(range, 'm')} and m.new_call and m.content is not null
        group by 1, 2, 3, 4, 5) as called
      group by 1, 2, 3, 4, 5) as given
    where exists (select from account where id = given.account_id)
      and (select count(*) from template_call k
        where k.account_id = given.account_id and k.template_id = given.template_id) < ${maxShapes}
    order by 1, 2, 3
    on conflict (account_id, template_id, shape) do update
    set last_at = excluded.last_at, last_message_id = excluded.last_message_id
    where c.last_at < excluded.last_at - interval '10 minutes'`;
  await run(transaction)`
    delete from template_call
    where last_at < now() - interval '31 days'${inLanes(range.lanes, 'template_call')}`;
}

/** Characters of a name with the lists and objects that it stands in. */
const maxPlaceLength = (MAX_FIELD_DEPTH + 1) * (MAX_FIELD_NAME_LENGTH + 3);

/** Objects and items of a value, with what their place ends in: those of a list `[]`, an object that isn't empty `{}`. */
const records = sql`
  select '[]' as ending, item.value from json_array_elements(
    case json_typeof(f.value) when 'array' then f.value else '[]' end) item
  where json_typeof(item.value) = 'object'
  union all select '{}', f.value where json_typeof(f.value) = 'object' and f.value::text <> '{}'`;

/**
 * The names of the values, then for lists and objects their places and the names that each item has, as `usageNames` has
 * them: `Items[]`, `Items[].Price`. No more and no longer names are kept than a template can have.
 */
function namesOf(values: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`array(
    with recursive given as (
      select key, value from json_each(${values}) where length(key) <= ${MAX_FIELD_NAME_LENGTH} limit ${maxNames}),
    record (place, value) as (
      select f.key || r.ending, r.value from given f cross join lateral (${records}) r
      union all
      select record.place || '.' || f.key || r.ending, r.value
      from record cross join lateral json_each(record.value) f cross join lateral (${records}) r
      where length(f.key) <= ${MAX_FIELD_NAME_LENGTH})
    select key from given
    union all (select place from record
      union select r.place || '.' || f.key
        from (select place, value, count(*) over (partition by place) as count from record) r
        cross join lateral json_each(r.value) f
        where length(f.key) <= ${MAX_FIELD_NAME_LENGTH}
        group by r.place, f.key, r.count having count(*) = r.count
      order by 1 limit ${MAX_FIELDS})
    union all select f.key || case json_typeof(f.value) when 'array' then '[0]' else '{0}' end from given f
      where json_typeof(f.value) in ('array', 'object') and f.value::text in ('[]', '{}'))`;
}

/** A way in which a template is called. */
export interface TemplateUsage {
  /** Names of values, and places in lists and objects, as `usageNames` has them. */
  readonly fields: readonly string[];
  /** The request brought its own subject line, and so that line's fields. */
  readonly ownSubject: boolean;
  readonly ownPreview: boolean;
  readonly lastAt: Date;
  readonly lastMessageId: string;
}

/** The ways in which a template was called in the last 30 days, the latest first; names that no template can have are left out. */
export async function readTemplateUsage(
  kysely: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
): Promise<TemplateUsage[]> {
  return await allRows<TemplateUsage>(kysely)`
    select array(
        select name from unnest(fields) name where length(name) <= ${maxPlaceLength} limit ${maxNames + MAX_FIELDS}
      ) as fields, own_subject as "ownSubject", own_preview as "ownPreview", last_at as "lastAt",
      last_message_id as "lastMessageId"
    from template_call
    where account_id = ${accountId} and template_id = ${templateId} and last_at > now() - interval '30 days'
    order by last_at desc`;
}
