import { type Static, Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readAccount, readAccountPage } from '../../account/account-store.ts';
import { saveMembership } from '../../account/membership-store.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { AccountSchema } from '../../manifest/manifest-schema.ts';
import { applyAccount, applyManifestPart } from '../apply-manifest-part.ts';
import { actorOf, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { AccountView, viewAccount } from './account-view.ts';
import { requireProvenAddress } from './require-proven-address.ts';

const Limit = Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })));

const QuotaBody = Type.Object(
  { perHour: Limit, perDay: Limit },
  {
    ...strict,
    description:
      'Max recipients (To, Cc, Bcc and the archive address) of the messages accepted from the account, per clock hour and per UTC day. Null or omitted: no limit; `{}` removes the quota.',
  },
);

function withoutNulls({ perHour, perDay }: Static<typeof QuotaBody>): {
  readonly perHour?: number;
  readonly perDay?: number;
} {
  return {
    ...(perHour != null && { perHour }),
    ...(perDay != null && { perDay }),
  };
}

function accountResource(call: OperationCall) {
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

export const accountRoutes = resourceRoutes({
  path: '/accounts/:accountId',
  access: { read: 'account:read', write: 'account:write' },
  view: AccountView,
  resource: accountResource,
  get: { id: 'getAccount', summary: 'Get an account' },
  put: {
    id: 'putAccount',
    summary: 'Rename an account or set its archive address',
    description:
      'An omitted archive address stays unchanged; an empty one removes it. A change of it requires `policy:write` and a confirmation.',
    body: Type.Object(
      {
        name: AccountSchema.properties.name,
        archiveAddress: AccountSchema.properties.archiveAddress,
      },
      strict,
    ),
    write: (call) => async (transaction, before) => {
      const { archiveAddress } = call.body;
      // Whoever sets it reads the account's mail, so programs can't.
      if (archiveAddress !== undefined && archiveAddress !== before?.archiveAddress)
        await call.requirePermission('policy:write', { field: 'archiveAddress', confirmed: true });
      const addresses = { given: archiveAddress, before: before?.archiveAddress };
      await requireProvenAddress(call, transaction, 'archiveAddress', addresses);
      await applyManifestPart(call, transaction, call.body);
    },
  },
});

export const anyAccountRoutes = resourceRoutes({
  path: '/installation/accounts/:accountId',
  access: { read: 'operate', write: 'operate' },
  view: AccountView,
  resource: accountResource,
  list: {
    id: 'listAllAccounts',
    summary: 'List all accounts',
    key: 'id',
    async read({ dependencies }, { after, limit }) {
      return (await readAccountPage(dependencies.database.kysely, after, limit)).map(viewAccount);
    },
  },
  get: { id: 'getAnyAccount', summary: 'Get any account' },
  put: {
    id: 'putAnyAccount',
    confirmed: true,
    summary: 'Create or update any account',
    description:
      'Sets the name, add-ons, quota, retention, suspension, archive address and attachment limit. When updating, omitted members stay unchanged. The operator who creates an account becomes its first owner.',
    body: Type.Object(
      {
        name: AccountSchema.properties.name,
        addOns: AccountSchema.properties.addOns,
        suspended: AccountSchema.properties.suspended,
        retentionDays: AccountSchema.properties.retentionDays,
        quota: Type.Optional(QuotaBody),
        archiveAddress: AccountSchema.properties.archiveAddress,
        attachmentLimit: AccountSchema.properties.attachmentLimit,
      },
      strict,
    ),
    write: (call) => async (transaction, before) => {
      const { accountId } = call.params;
      const { quota, ...rest } = call.body;
      const addresses = { given: rest.archiveAddress, before: before?.archiveAddress };
      await requireProvenAddress(call, transaction, 'archiveAddress', addresses);
      await applyAccount(call.dependencies.key, transaction, {
        id: accountId,
        ...rest,
        ...(quota && { quota: withoutNulls(quota) }),
      });
      const personId = personOf(actorOf(call));
      if (before === undefined && personId !== undefined)
        await saveMembership(transaction, { accountId, personId, role: 'owner' });
    },
  },
});
