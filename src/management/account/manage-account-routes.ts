import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readAccount } from '../../account/account-store.ts';
import { saveMembership } from '../../account/membership-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { AccountSchema } from '../../manifest/manifest-schema.ts';
import { strict } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { applyAccount, applyManifestPart } from '../apply-manifest-part.ts';
import { requireResource, saveResource } from '../change-resource.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { AccountView, viewAccount } from './account-view.ts';
import { readAccountPage } from './accounts-page-store.ts';

function accountChange(call: OperationCall) {
  const { accountId } = call.params;
  return {
    kind: 'account',
    id: accountId,
    async read(transaction: DatabaseTransaction) {
      const account = await readAccount(transaction, accountId);
      return account && viewAccount(account);
    },
  };
}

export const getAccount = defineOperation({
  id: 'getAccount',
  summary: 'Get an account',
  answer: AccountView,
  handle: (call) => requireResource(call, accountChange(call)),
});

export const putAccount = defineOperation({
  id: 'putAccount',
  summary: 'Rename an account',
  body: Type.Object({ name: AccountSchema.properties.name }, strict),
  answer: AccountView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...accountChange(call),
      write: async (transaction) => {
        await applyManifestPart(call, transaction, { name: call.body.name });
      },
    }),
});

export const listAllAccounts = defineOperation({
  id: 'listAllAccounts',
  summary: 'List all accounts',
  query: pageQuery({}),
  answer: pageOf(AccountView),
  async handle({ dependencies, query }) {
    const limit = pageSizeOf(query);
    const [after] = readCursor(query, 'text') ?? [];
    const rows = await readAccountPage(dependencies.database.kysely, after ?? '', limit + 1);
    return toPage(rows, limit, viewAccount, ({ id }) => [id]);
  },
});

export const getAnyAccount = defineOperation({
  id: 'getAnyAccount',
  summary: 'Get any account',
  answer: AccountView,
  handle: (call) => requireResource(call, accountChange(call)),
});

export const putAnyAccount = defineOperation({
  id: 'putAnyAccount',
  summary: 'Create or update any account',
  description:
    'Sets the name, add-ons, quota, retention and suspension. When updating, omitted members stay unchanged. The person who creates an account becomes its first owner.',
  body: Type.Object(
    {
      name: AccountSchema.properties.name,
      addOns: AccountSchema.properties.addOns,
      suspended: AccountSchema.properties.suspended,
      retentionDays: AccountSchema.properties.retentionDays,
      quota: AccountSchema.properties.quota,
    },
    strict,
  ),
  answer: AccountView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...accountChange(call),
      async write(transaction, before) {
        const { accountId } = call.params;
        await applyAccount(call.dependencies.key, transaction, { id: accountId, ...call.body });
        const personId = personOf(actorOf(call));
        if (before === undefined && personId !== undefined)
          await saveMembership(transaction, { accountId, personId, role: 'owner' });
      },
    }),
});
