import { sql } from 'kysely';
import { suppressBounced } from '../../src/feedback/suppression/suppress-bounced-store.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { Log } from '../../src/foundation/log.ts';
import { noteTemplateCalls } from '../../src/management/template/template-call-store.ts';
import { rollUp } from '../../src/report/roll-up-store.ts';
import { writeSearchRows } from '../../src/report/search-rows-store.ts';
import { ensureMessagePartitions } from '../../src/submission/message-partitions-store.ts';
import { webhookFollowerName } from '../../src/webhook/webhook-room.ts';
import {
  type ApartPartition,
  attach,
  makeIndexes,
  readIndexes,
  strip,
  takeApart,
} from './bulk-partitions.ts';
import { draftWeek } from './draft-week.ts';
import { type HistoryPlan, type HistoryWeek, weeksOf } from './history-plan.ts';
import { openStage, writeTotals } from './write-totals.ts';
import { followWeek, writeWeek } from './write-week.ts';

const followers = [
  suppressBounced.name,
  writeSearchRows.name,
  rollUp.name,
  noteTemplateCalls.name,
  webhookFollowerName,
];

/** Weeks that are filled at the same time, far from each other: neighbours add to the same totals. */
const lanes = 2;
/**
 * Fills an installation that has no messages yet with finished ones, and with all that the product leaves of them: events,
 * search rows, totals, suppressions, partitions, and followers that have seen it all. The plan's accounts and templates must
 * be there.
 * @throws where there are messages already
 */
export async function fillHistory(database: Database, plan: HistoryPlan, log: Log): Promise<void> {
  const { kysely } = database;
  const { rows } = await sql`select from message limit 1`.execute(kysely);
  if (rows.length > 0) throw new Error('there are messages already: fill a new database');
  const weeks = weeksOf(plan);
  // A run makes the partitions of three weeks.
  for (const { from } of weeks.filter((_, index) => index % 3 === 0))
    await ensureMessagePartitions({ database, clock: { offset: from - Date.now() }, log });
  const waiting: { readonly week: HistoryWeek; readonly parts: readonly ApartPartition[] }[] = [];
  for (const week of weeks) {
    const name = new Date(week.from).toISOString().slice(0, 10).replaceAll('-', '');
    const parts: ApartPartition[] = [];
    for (const table of ['message', 'message_event', 'message_search'])
      parts.push(await takeApart(kysely, `${table}_90_${name}`));
    waiting.push({ week, parts });
  }
  const perLane = Math.ceil(waiting.length / lanes);
  const fillLane = async (lane: number): Promise<void> => {
    for (const { week, parts } of waiting.slice(lane * perLane, (lane + 1) * perLane)) {
      await fillWeek(kysely, plan, week, parts);
      log.info({ messages: Number(week.end - week.first) }, 'a week is filled');
    }
  };
  await openStage(kysely);
  await Promise.all(Array.from({ length: lanes }, (_, lane) => fillLane(lane)));
  await writeTotals(kysely);
  for (const name of followers)
    await sql`
      insert into feed_cursor (name, tx) values (${name}, pg_current_xact_id())
      on conflict (name) do update set tx = excluded.tx`.execute(kysely);
  await sql`vacuum (analyze) suppression`.execute(kysely);
  for (const table of ['message', 'message_event', 'message_search'])
    await sql`analyze ${sql.table(table)}`.execute(kysely);
}

async function fillWeek(
  kysely: Database['kysely'],
  plan: HistoryPlan,
  week: HistoryWeek,
  parts: readonly ApartPartition[],
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await sql`set local maintenance_work_mem = '512MB'`.execute(transaction);
    await sql`set local work_mem = '384MB'`.execute(transaction);
    await sql`set local synchronous_commit = off`.execute(transaction);
    await draftWeek(transaction, plan, week);
    const [message = '', event = '', search = ''] = parts.map(({ name }) => name);
    const indexes: string[] = [];
    for (const { name } of parts) {
      indexes.push(...(await readIndexes(transaction, name)));
      await strip(transaction, name);
    }
    await writeWeek(transaction, { message, event, search }, plan.clientId);
    await makeIndexes(transaction, indexes);
    await followWeek(transaction);
  });
  for (const part of parts) {
    await attach(kysely, part);
    await sql`vacuum (analyze) ${sql.table(part.name)}`.execute(kysely);
  }
}
