import { type Static, Type } from 'typebox';
import { changeWithoutLockout } from '../../../accounts/access/last-owner-store.ts';
import { personOf } from '../../../accounts/access/principal.ts';
import type { Account } from '../../../accounts/account/account.ts';
import {
  givenSettings,
  shownSettings,
  showSettings,
} from '../../../accounts/account/account-settings.ts';
import { readAccount, readAccountPage } from '../../../accounts/account/account-store.ts';
import { saveMembership } from '../../../accounts/account/membership-store.ts';
import { readQuotaUsage } from '../../../accounts/account/quota-usage-store.ts';
import { readSender } from '../../../accounts/sender/sender-store.ts';
import { hasVerifiedDomain } from '../../../accounts/sender/sending-domain-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  DescribedObject,
  Flag,
  NamedObject,
  Nullable,
  StrictObject,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import {
  domainOf,
  normalizeAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { AccountSchema } from '../../manifest/manifest-schema.ts';
import { accountResource } from '../../manifest/resource-sections.ts';
import { conflict, invalidField } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { entryScope } from '../save-resource.ts';

export const AccountView = NamedObject('Account', {
  id: Type.String(),
  name: Type.String(),
  addOns: Type.Array(Type.String(), { description: 'Enabled add-ons.' }),
  suspended: Flag('Suspended accounts can’t send.'),
  retentionDays: Whole('How many days messages are kept: 30, 90 or 400.'),
  quota: DescribedObject('Max accepted messages; null: no limit.', {
    perHour: Nullable(Type.Integer()),
    perDay: Nullable(Whole('Per UTC day.')),
  }),
  ...shownSettings,
});

export function viewAccount(account: Account) {
  const { perHour = null, perDay = null } = account.quota ?? {};
  return viewOf(AccountView)({
    ...account,
    addOns: [...account.addOns].sort(),
    quota: { perHour, perDay },
    ...showSettings(account),
  });
}

const Limit = Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })));

const QuotaBody = DescribedObject(
  'Max recipients (To, Cc, Bcc and the archive address) of the messages accepted from the account, per clock hour and per UTC day. Null or omitted: no limit; `{}` removes the quota.',
  { perHour: Limit, perDay: Limit },
);

function withoutNulls({ perHour, perDay }: Static<typeof QuotaBody>) {
  return { ...(perHour != null && { perHour }), ...(perDay != null && { perDay }) };
}

const shownAccountOf = resourceOf({
  kind: 'account',
  id: 'accountId',
  async read(transaction, { params }) {
    const account = await readAccount(transaction, params.accountId);
    return account && viewAccount(account);
  },
});

export const accountRoutes = resourceRoutes({
  path: '/accounts/:accountId',
  access: { read: 'account:read', write: 'account:write' },
  view: AccountView,
  resource: shownAccountOf,
  get: { id: 'getAccount', summary: 'Get an account' },
  put: {
    id: 'putAccount',
    summary: 'Rename an account or set its archive address',
    description:
      'An omitted archive address stays unchanged; an empty one removes it. A change of it requires `policy:write` and a confirmation.',
    body: StrictObject({
      name: AccountSchema.properties.name,
      archiveAddress: givenSettings.archiveAddress,
    }),
    write: (call) => async (transaction, before) => {
      const { archiveAddress } = call.body;
      // Whoever sets it reads the account's mail, so programs can't.
      if (archiveAddress !== undefined && archiveAddress !== before?.archiveAddress)
        await call.requirePermission('policy:write', { field: 'archiveAddress', confirmed: true });
      const addresses = { given: archiveAddress, before: before?.archiveAddress };
      await requireProvenAddress(call, transaction, 'archiveAddress', addresses);
      const settings = { id: call.params.accountId, ...call.body };
      await applyEntry(accountResource, settings, entryScope(call, transaction));
    },
  },
});

export const anyAccountRoutes = resourceRoutes({
  path: '/installation/accounts/:accountId',
  access: { read: 'operate', write: 'operate' },
  view: AccountView,
  resource: shownAccountOf,
  list: {
    id: 'listAllAccounts',
    summary: 'List all accounts',
    key: 'id',
    read: async ({ kysely }, { after, limit }) =>
      (await readAccountPage(kysely, after, limit)).map(viewAccount),
  },
  get: { id: 'getAnyAccount', summary: 'Get any account' },
  put: {
    id: 'putAnyAccount',
    confirmed: true,
    summary: 'Create or update any account',
    description:
      'Sets the name, add-ons, quota, retention, suspension, archive address and attachment limit. When updating, omitted members stay unchanged. The operator who creates an account becomes its first owner.',
    body: StrictObject({
      name: AccountSchema.properties.name,
      addOns: AccountSchema.properties.addOns,
      suspended: AccountSchema.properties.suspended,
      retentionDays: AccountSchema.properties.retentionDays,
      quota: Type.Optional(QuotaBody),
      ...givenSettings,
    }),
    write: (call) => async (transaction, before) => {
      const { accountId } = call.params;
      const { quota, ...rest } = call.body;
      const addresses = { given: rest.archiveAddress, before: before?.archiveAddress };
      await requireProvenAddress(call, transaction, 'archiveAddress', addresses);
      const settings = { id: accountId, ...rest, ...(quota && { quota: withoutNulls(quota) }) };
      await applyEntry(accountResource, settings, entryScope(call, transaction));
      const personId = personOf(actorOf(call));
      if (before === undefined && personId !== undefined)
        await saveMembership(transaction, { accountId, personId, role: 'owner' });
    },
  },
});

/**
 * Makes a change after which an owner can still sign in.
 * @param refusal what is wrong otherwise
 */
export async function keepingOwners(
  call: OperationCall,
  transaction: DatabaseTransaction,
  refusal: string,
  change: () => Promise<unknown>,
): Promise<void> {
  const { facts } = call.dependencies.access;
  const scope = { accounts: [call.params.accountId], operators: false };
  const locked = await changeWithoutLockout(transaction, facts, scope, change);
  if (locked !== undefined) throw conflict(refusal);
}

/**
 * Requires that the account has proven to read a new address that its mail or its notices go to: by a link, as for a sender, or
 * by its domain.
 * @param before the address that stays allowed
 * @throws Problem that names the field
 */
export async function requireProvenAddress(
  { params: { accountId } }: Pick<OperationCall, 'params'>,
  transaction: DatabaseTransaction,
  field: string,
  {
    given = '',
    before,
  }: { readonly given: string | undefined; readonly before: string | undefined },
): Promise<void> {
  const parsed = parseEmailAddress(given);
  // What isn't an address is refused with its own reason.
  if (given === before || !parsed.ok) return;
  const { address } = parsed;
  const sender = await readSender(transaction, accountId, normalizeAddress(address));
  if (sender?.verified === true) return;
  if (await hasVerifiedDomain(transaction, accountId, domainOf(address))) return;
  throw invalidField(
    field,
    'isn’t confirmed. Verify its domain under Domains, or add it under Senders and open the link that is sent to it, then set it',
  );
}

const WindowView = NamedObject('QuotaWindow', {
  limit: Nullable(Whole('Null: no limit.')),
  used: Whole(
    'Recipients of messages accepted in this window. Under load, includes what processes have reserved for the next second.',
  ),
  endsAt: Time('When the window ends and the count resets.'),
});

function viewWindow(limit: number | undefined, used: number, at: Date, windowMs: number) {
  return { limit: limit ?? null, used, endsAt: new Date(at.getTime() + windowMs) };
}

export const getQuotaUse = defineOperation({
  id: 'getQuotaUse',
  summary: 'Get quota usage for the current hour and day',
  description: '`used` is 0 for accounts without a quota.',
  answer: NamedObject('QuotaUse', { hour: WindowView, day: WindowView }),
  async handle(call) {
    const { id, quota } = accountOf(call);
    const use = await readQuotaUsage(call.kysely, id);
    const counted = quota !== undefined;
    return {
      hour: viewWindow(quota?.perHour, counted ? use.hourUsed : 0, use.hourAt, 3_600_000),
      day: viewWindow(quota?.perDay, counted ? use.dayUsed : 0, use.dayAt, 86_400_000),
    };
  },
});
