import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { attributeHash } from '../message/message-sql.ts';
import { recentFrom } from './message-id-range.ts';

/** A range of message ids; `before` is exclusive. */
interface IdRange {
  readonly before: string;
  readonly minId: string;
  readonly limit: number;
}

/**
 * Ids of an account's messages with an attribute, newest first. Check the attribute again: different ones can have the
 * same hash.
 * @param attribute `name=value`
 */
export async function findAttributed(
  kysely: Database['kysely'],
  accountId: AccountId,
  attribute: string,
  { before, minId, limit }: IdRange,
): Promise<readonly string[]> {
  const recent = recentFrom(minId, before);
  for (const from of recent === minId ? [minId] : [recent, minId]) {
    const { rows } = await sql<{ id: string }>`
      select message_id as id from message_attribute
      where account_id = ${accountId} and hash = (select ${sql.raw(attributeHash('t.text'))} from (select ${attribute}::text) as t (text))
        and message_id < ${before}::uuid and message_id >= ${from}::uuid
      order by message_id desc limit ${limit}`.execute(kysely);
    if (rows.length === limit || from === minId) return rows.map(({ id }) => id);
  }
  return [];
}
