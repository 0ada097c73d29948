import { Type } from 'typebox';
import { authorize } from '../../../accounts/access/authorize.ts';
import {
  type AccessPolicy,
  secondFactorRules,
  signInRules,
} from '../../../accounts/account/account.ts';
import { readAccount } from '../../../accounts/account/account-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { NamedObject, Nullable, Text, Whole } from '../../../base/values/common-schemas.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { PolicySchema } from '../../manifest/manifest-schema.ts';
import { accountResource } from '../../manifest/resource-sections.ts';
import { invalidField } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { accountOf, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { entryScope } from '../save-resource.ts';
import { keepingOwners, requireProvenAddress } from './manage-account-routes.ts';

const Networks = (who: string) =>
  Type.Array(Type.String(), { description: `Where ${who} may come from; empty: anywhere.` });

const PolicyView = NamedObject('AccessPolicy', {
  signIn: Type.Enum([...signInRules], {
    description:
      '`single-sign-on`: people sign in with a provider; never the role `service` and operators.',
  }),
  secondFactor: Type.Enum([...secondFactorRules], {
    description: 'Who needs a second factor; never the role `service`.',
  }),
  signInHours: Nullable(Whole('Hours after which people confirm who they are again; null: never.')),
  peopleNetworks: Networks('people'),
  programNetworks: Networks('API keys and access tokens'),
  securityAddress: Text(
    'Gets the security notices about the account, its owners and operators too. Empty: none.',
  ),
});

function viewPolicy(policy: AccessPolicy | undefined) {
  return viewOf(PolicyView)({
    signIn: 'own-choice',
    secondFactor: 'own-choice',
    peopleNetworks: [],
    programNetworks: [],
    ...policy,
    securityAddress: policy?.securityAddress ?? '',
  });
}

export const policyRoutes = resourceRoutes({
  path: '/accounts/:accountId/policy',
  access: { read: 'account:read', write: 'policy:write' },
  view: PolicyView,
  resource: ({ params: { accountId } }) => ({
    kind: 'policy',
    id: accountId,
    async read(transaction: DatabaseTransaction) {
      const account = await readAccount(transaction, accountId);
      return account && viewPolicy(account.policy);
    },
  }),
  get: { id: 'getPolicy', summary: 'Get the access policy of an account' },
  put: {
    id: 'putPolicy',
    summary: 'Set the access policy of an account',
    description:
      'Omitted members become their default. Rejected if the new policy would lock you out.',
    confirmed: true,
    body: PolicySchema,
    write: (call) => async (transaction, before) => {
      const addresses = { given: call.body.securityAddress, before: before?.securityAddress };
      await requireProvenAddress(call, transaction, 'securityAddress', addresses);
      const refusal =
        'This would lock all owners out: none of them could sign in as the policy asks';
      await keepingOwners(call, transaction, refusal, async () => {
        const { id, name } = accountOf(call);
        const settings = { id, name, policy: call.body };
        await applyEntry(accountResource, settings, entryScope(call, transaction));
        await requireStillPermitted(call, transaction);
      });
    },
  },
});

/** Decides this call again with the new policy, so that nobody locks themselves out. */
async function requireStillPermitted(
  { dependencies, actor, params: { accountId }, request }: OperationCall,
  transaction: DatabaseTransaction,
): Promise<void> {
  const account = await readAccount(transaction, accountId);
  const { refusal } = await authorize(
    { ...dependencies.access.facts, account: () => account },
    actor,
    {
      api: 'management',
      access: 'policy:write',
      accountText: accountId,
      remoteAddress: () => request.ip,
    },
  );
  if (refusal === undefined) return;
  const [field, reason]: readonly [string, string] =
    refusal === 'second-factor-missing'
      ? ['secondFactor', 'would lock you out: add a second factor first']
      : refusal === 'outside-networks'
        ? [
            actor?.kind === 'key' ? 'programNetworks' : 'peopleNetworks',
            `would lock you out: your address, ${request.ip}, is in none of them`,
          ]
        : refusal === 'single-sign-on-missing'
          ? ['signIn', 'would lock you out: sign in with the account’s provider first']
          : ['signInHours', 'would lock you out: sign in again first'];
  throw invalidField(field, reason);
}
