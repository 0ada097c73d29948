import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { addKey } from '../../test/support/api-key.ts';
import { getToken, openShop, publishShopTemplate } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';
import { archiveAddress, type ChaosTargets } from './chaos-load.ts';
import type { ChaosLogin } from './chaos-smtp-load.ts';

/** Creates the accounts that a load sends from: one with the templates `t-0001` and `t-list`, and one with an archive address. */
export async function openChaosAccounts(database: Database, id: string, archivingId: string) {
  const shop = await openBenchAccount(database, { id });
  await publishShopTemplate(database, shop, {
    id: 't-list',
    sender: 'orders@shop.test',
    source: {
      ...{ subject: 'Items', html: '{{#Items}}<p>{{Name}}</p>{{/Items}}', previewText: '' },
      fields: { Items: { kind: 'list' } },
    },
  });
  const archiving = await openShop(database, { id: archivingId, archiveAddress });
  const path = (accountId: AccountId, template: string) => `/ete/v1/email/${accountId}/${template}`;
  return {
    accountIds: [shop.id, archiving.id],
    async makeLogin(): Promise<ChaosLogin> {
      const apiKey = await addKey(database, shop.id, {
        scopes: ['messages:send', 'messages:send-content'],
      });
      return { accountId: shop.id, apiKey };
    },
    /** @param node that issues the tokens */
    async readTargets(node: { readonly url: string }): Promise<ChaosTargets> {
      const token = await getToken(node, shop);
      return {
        plain: { path: path(shop.id, 't-0001'), token },
        list: { path: path(shop.id, 't-list'), token },
        archive: { path: path(archiving.id, 't-0001'), token: await getToken(node, archiving) },
      };
    },
  };
}
