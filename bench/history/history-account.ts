import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId, TemplateId } from '../../src/foundation/ids.ts';
import { publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { multiplyAccounts } from '../bench-account.ts';

const accounts = 8;
const templates = 40;

/** Further accounts like the shop, and in each of them the templates of the history, with two links. */
export async function openHistoryAccounts(
  database: Database,
  shop: Shop,
): Promise<{ accountIds: AccountId[]; templateIds: TemplateId[] }> {
  const templateIds = Array.from(
    { length: templates },
    (_, index) => `history-${String(index + 1).padStart(2, '0')}` as TemplateId,
  );
  const [first = '' as TemplateId, ...others] = templateIds;
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
  for (const statement of [
    `insert into template (account_id, id, name, created_by, published_version)
     select account_id, other, other, created_by, published_version from template, unnest($3::text[]) other
     where account_id = $1 and id = $2`,
    `insert into template_version (account_id, template_id, version, content_hash, sender_address, source, compiled)
     select account_id, other, version, content_hash, sender_address, source, compiled
     from template_version, unnest($3::text[]) other where account_id = $1 and template_id = $2`,
  ])
    await database.pool.query(statement, [shop.id, first, others]);
  const accountIds = (await multiplyAccounts(database, shop, accounts)) as AccountId[];
  return { accountIds, templateIds };
}
