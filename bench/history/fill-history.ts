import { sql } from 'kysely';
import type { Database } from '../../src/base/database/open-database.ts';
import type { TemplateId } from '../../src/base/values/ids.ts';
import type { Log } from '../../src/base/values/log.ts';
import { ensureMessagePartitions } from '../../src/content/message/message-partitions-store.ts';
import { suppressBounced } from '../../src/outcomes/bounce/suppress-bounced-store.ts';
import { EventFeed } from '../../src/outcomes/feed/event-feed.ts';
import { rollUp } from '../../src/outcomes/report/roll-up-store.ts';
import { writeSearchRows } from '../../src/outcomes/report/search-rows-store.ts';
import { recordTemplateUsage } from '../../src/outcomes/report/template-usage-store.ts';
import { followAccountEvents } from '../../src/outcomes/webhook/account-events.ts';
import { publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { copyRows, multiplyAccounts } from '../copy-rows.ts';
import { draftMessages, type HistoryPlan, writeDrafts } from './draft-messages.ts';

const accounts = 8;
const templates = 40;
const spanMs = 90 * 24 * 60 * 60 * 1_000;
/** Before now, so that the events after a message are in the past too. */
const settleMs = 30 * 60 * 1_000;

/** Messages of the last 90 days, of templates with two links each that this adds to the account and to copies of it. */
export async function planHistory(
  database: Database,
  shop: Shop,
  messages: number,
): Promise<HistoryPlan> {
  const templateIds = Array.from(
    { length: templates },
    (_, index) => `history-${String(index + 1).padStart(2, '0')}` as TemplateId,
  );
  const [first = '', ...others] = templateIds;
  await publishShopTemplate(database, shop, {
    id: first,
    sender: 'orders@shop.test',
    source: {
      subject: 'Your order {{Order Number}}',
      previewText: 'Thank you, {{First Name}}',
      html: `<p>Hello {{First Name}}, {{Product}} for {{Price}} is on its way.</p>
        <a href="https://shop.test/orders/{{Order Number}}">order</a> <a href="https://shop.test/help">help</a>`,
    },
  });
  for (const [table, column, columns] of [
    ['template', 'id', { id: sql`copy`, name: sql`copy` }],
    ['template_version', 'template_id', { template_id: sql`copy` }],
  ] as const)
    await copyRows(database, {
      table,
      where: sql`one.account_id = ${shop.id} and ${sql.ref(`one.${column}`)} = ${first}`,
      times: sql`unnest(${others}::text[])`,
      columns,
    });
  const accountIds = await multiplyAccounts(database, shop, accounts);
  const until = Date.now() - settleMs;
  const { clientId } = shop.integration;
  return { messages, from: until - spanMs, until, accountIds, templateIds, clientId };
}

const weekMs = 7 * 24 * 60 * 60 * 1_000;
/** Of one transaction, which followers see as one window. */
const batchSize = 50_000;

/** Adds finished messages to a database without any; the product's followers write search rows, totals and suppressions. */
export async function fillHistory(database: Database, plan: HistoryPlan, log: Log): Promise<void> {
  const { kysely } = database;
  const { rows } = await sql`select from message limit 1`.execute(kysely);
  if (rows.length > 0) throw new Error('the database has messages already');
  for (let from = plan.from; from < plan.until; from += weekMs)
    await ensureMessagePartitions({ database, log }, new Date(from));
  // Webhooks that a benchmark adds later start after the history.
  const events = { name: followAccountEvents.name, follow: async () => undefined };
  const followers = [suppressBounced, writeSearchRows, rollUp, recordTemplateUsage, events];
  const feed = new EventFeed({ database, log, followers });
  for (let first = 0; first < plan.messages; first += batchSize) {
    const end = Math.min(plan.messages, first + batchSize);
    await kysely.transaction().execute(async (transaction) => {
      await sql`set local work_mem = '256MB'`.execute(transaction);
      await draftMessages(transaction, plan, first, end);
      await writeDrafts(transaction, plan.clientId);
    });
    await feed.catchUp();
    log.info({ messages: end }, 'filled so far');
  }
  await sql`vacuum (analyze)`.execute(kysely);
}
