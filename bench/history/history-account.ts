import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { TemplateId } from '../../src/foundation/ids.ts';
import { publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { copyRows, multiplyAccounts } from '../copy-rows.ts';
import type { HistoryPlan } from './history-plan.ts';

const accounts = 8;
const templates = 40;

/** Adds the templates of the history, with two links each, and copies the account. */
export async function openHistoryAccounts(
  database: Database,
  shop: Shop,
): Promise<Pick<HistoryPlan, 'accountIds' | 'templateIds' | 'clientId'>> {
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
  return { accountIds, templateIds, clientId: shop.integration.clientId };
}
