import type { Database } from '../../src/foundation/database/open-database.ts';
import { newMessageId } from '../../src/foundation/ids.ts';
import { letterValues } from './letter.ts';

/** Puts so many accepted messages of the letter into the queue. */
export async function fillQueue(
  database: Database,
  accountId: string,
  count: number,
): Promise<void> {
  const most = 1_000;
  for (let from = 0; from < count; from += most) {
    const numbers = Array.from(
      { length: Math.min(most, count - from) },
      (_, index) => from + index,
    );
    await database.pool.query(
      `with row as (
         select * from unnest($2::uuid[], $3::json[]) as row (id, content)),
       stored as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         select $1, id, 90, 't-0001', 1, true, false, false, true, 'bench', now(), now(), content from row)
       insert into queue_entry (account_id, message_id, retention_days, priority, due_at, expires_at, pending)
       select $1, id, 90, 0, now(), now() + interval '48 hours', '{0}' from row`,
      [
        accountId,
        numbers.map(() => newMessageId()),
        numbers.map((number) =>
          JSON.stringify({
            to: `reader${number}@example.test`,
            from: { address: 'orders@shop.test', name: 'Demo Shop' },
            values: letterValues(number),
          }),
        ),
      ],
    );
  }
}
