import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { StoredContent } from '../message/message-content.ts';
import { contentMembers } from '../message/message-sql.ts';

/** A message whose subject is read, with the fields that the subject of its version uses. */
export interface SubjectRequest {
  readonly accountId: AccountId;
  readonly id: MessageId;
  readonly names: readonly string[];
}

/** What the subject of a message is rendered from. */
export interface SubjectSource extends Pick<StoredContent, 'values'> {
  readonly id: MessageId;
  readonly subjectLine: string | null;
  readonly locale: string | null;
  /** What the subject depends on has been erased. */
  readonly erased: boolean;
}

/** Longer texts fill the subject anyway, and longer lists aren't worth reading for it. */
const maxTextLength = 1_000;
const maxListLength = 16_384;

/** The sources of subjects, in any order; none for messages whose content was erased. */
export async function readSubjectSources(
  kysely: Database['kysely'],
  requests: readonly SubjectRequest[],
): Promise<SubjectSource[]> {
  const { rows } = await sql<SubjectSource>`
    select m.id, c."subjectLine" #>> '{}' as "subjectLine", c.locale #>> '{}' as locale,
      coalesce(c.erased::jsonb ?| array['values', 'subjectLine'], false) as erased, coalesce(given.values, '{}') as values
    from json_to_recordset(${JSON.stringify(requests)}::json) as r ("accountId" text, id uuid, names text[])
    join message m on m.account_id = r."accountId" and m.id = r.id
    cross join lateral ${sql.raw(contentMembers('m', 'c', ['subjectLine', 'locale', 'values', 'erased']))}
    left join lateral (
      select json_object_agg(v.key, case json_typeof(v.value)
        when 'string' then to_json(left(v.value #>> '{}', ${maxTextLength})) else v.value end) as values
      from json_each(c.values) as v
      where (v.key = any(r.names) or position(v.key in c."subjectLine" #>> '{}') > 0)
        and (json_typeof(v.value) in ('string', 'null') or length(v.value::text) <= ${maxListLength})) as given on true
    where m.content is not null`.execute(kysely);
  return rows;
}
