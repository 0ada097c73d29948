import type { Database } from '../../src/foundation/database/open-database.ts';
import { fieldNames } from '../bench-account.ts';

/** Messages of one statement. */
const maxBatchRows = 20_000;

/** Ten values that no other message of the account has, as `letterValues` makes them. */
const values = fieldNames
  .map((name, index) => `'${name}', '${name} of letter ' || (number * 10 + ${index})`)
  .join(', ');

/** Puts so many accepted messages of the letter into an account's queue. */
export async function fillQueue(
  database: Database,
  accountId: string,
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += maxBatchRows) {
    await database.pool.query(
      `with row as materialized (
         select uuidv7() as id, number from generate_series($2::int, $3::int) number),
       stored as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         select $1, id, 90, 't-0001', 1, true, false, false, true, 'bench', now(), now(), json_build_object(
           'to', 'reader' || number || '@example.test',
           'from', json_build_object('address', 'orders@shop.test', 'name', 'Demo Shop'),
           'values', json_build_object(${values}))
         from row)
       insert into queue_entry (account_id, message_id, retention_days, priority, due_at, expires_at, pending)
       select $1, id, 90, 0, now(), now() + interval '48 hours', '{0}' from row`,
      [accountId, from, Math.min(count, from + maxBatchRows) - 1],
    );
  }
}
