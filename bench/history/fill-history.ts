import { sql } from 'kysely';
import { suppressBounced } from '../../src/feedback/suppression/suppress-bounced-store.ts';
import { recordTemplateUsage } from '../../src/feedback/template-usage/template-usage-store.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { Log } from '../../src/foundation/log.ts';
import { ensureMessagePartitions } from '../../src/message/message-partitions-store.ts';
import { rollUp } from '../../src/report/roll-up-store.ts';
import { writeSearchRows } from '../../src/report/search-rows-store.ts';
import { webhookFollowerName } from '../../src/webhook/webhook-module.ts';
import {
  attachPartition,
  clearTable,
  createIndexes,
  type DetachedPartition,
  detachPartition,
  readIndexes,
} from './bulk-partitions.ts';
import { draftWeek } from './draft-week.ts';
import { type HistoryPlan, type HistoryWeek, weeksOf } from './history-plan.ts';
import { createStagingTables, writeTotals } from './write-totals.ts';
import { followWeek, writeWeek } from './write-week.ts';

const followers = [
  suppressBounced.name,
  writeSearchRows.name,
  rollUp.name,
  recordTemplateUsage.name,
  webhookFollowerName,
];

/** Weeks that are filled at the same time, far from each other: neighbours add to the same totals. */
const parallelFills = 2;
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
    await ensureMessagePartitions({ database, log }, new Date(from));
  const waiting: {
    readonly week: HistoryWeek;
    readonly partitions: readonly DetachedPartition[];
  }[] = [];
  for (const week of weeks) {
    const name = new Date(week.from).toISOString().slice(0, 10).replaceAll('-', '');
    const partitions: DetachedPartition[] = [];
    for (const table of ['message', 'message_event', 'message_search'])
      partitions.push(await detachPartition(kysely, `${table}_90_${name}`));
    waiting.push({ week, partitions });
  }
  const weeksPerFill = Math.ceil(waiting.length / parallelFills);
  const fillWeeks = async (fillIndex: number): Promise<void> => {
    for (const { week, partitions } of waiting.slice(
      fillIndex * weeksPerFill,
      (fillIndex + 1) * weeksPerFill,
    )) {
      await fillWeek(kysely, plan, week, partitions);
      log.info({ messages: Number(week.end - week.first) }, 'a week is filled');
    }
  };
  await createStagingTables(kysely);
  await Promise.all(Array.from({ length: parallelFills }, (_, fillIndex) => fillWeeks(fillIndex)));
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
  partitions: readonly DetachedPartition[],
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await sql`set local maintenance_work_mem = '512MB'`.execute(transaction);
    await sql`set local work_mem = '384MB'`.execute(transaction);
    await sql`set local synchronous_commit = off`.execute(transaction);
    await draftWeek(transaction, plan, week);
    const [message = '', event = '', search = ''] = partitions.map(({ name }) => name);
    const indexes: string[] = [];
    for (const { name } of partitions) {
      indexes.push(...(await readIndexes(transaction, name)));
      await clearTable(transaction, name);
    }
    await writeWeek(transaction, { message, event, search }, plan.clientId);
    await createIndexes(transaction, indexes);
    await followWeek(transaction);
  });
  for (const part of partitions) {
    await attachPartition(kysely, part);
    await sql`vacuum (analyze) ${sql.table(part.name)}`.execute(kysely);
  }
}
