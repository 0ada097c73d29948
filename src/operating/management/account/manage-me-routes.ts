import { Type } from 'typebox';
import { permissions, permissionsOf } from '../../../accounts/access/permission.ts';
import type { Principal } from '../../../accounts/access/principal.ts';
import { readAccounts } from '../../../accounts/account/account-store.ts';
import { readMemberships } from '../../../accounts/account/membership-store.ts';
import { personFormats } from '../../../accounts/account/person-formats.ts';
import { readFormats, readPerson } from '../../../accounts/account/person-store.ts';
import type { Kysely } from '../../../base/database/open-database.ts';
import {
  DescribedObject,
  Flag,
  NamedObject,
  Nullable,
  Text,
} from '../../../base/values/common-schemas.ts';
import { canOperate } from '../access/admit-actor.ts';
import { Problem } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { actorOf, defineOperation } from '../operation.ts';
import { AccountView, viewAccount } from './manage-account-routes.ts';

const MyAccountView = NamedObject('MyAccount', {
  ...AccountView.properties,
  demo: Flag('Its messages are made up by `demo fill`.'),
  role: Nullable(Text('Null for an API key.')),
  permissions: Type.Array(Type.Enum([...permissions])),
});

const MyPersonView = DescribedObject('Null for an API key.', {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  formats: Type.Enum([...personFormats], {
    description: 'The region whose dates and numbers the person reads.',
  }),
});

export const getMe = defineOperation({
  id: 'getMe',
  summary: 'Get the caller and their permissions',
  answer: NamedObject('Me', {
    person: Nullable(MyPersonView),
    operator: Flag('Whether the caller is an operator of the installation.'),
    inbox: Flag('Whether mail is captured instead of delivered.'),
    address: Text('The IP address that the call comes from.'),
    accounts: Type.Array(MyAccountView),
  }),
  async handle(call) {
    const actor = actorOf(call);
    // Bypasses the cache, so callers see their own changes before the change notification reaches this process.
    const { kysely } = call;
    const person = actor.kind === 'person' ? await readPerson(kysely, actor.personId) : undefined;
    if (actor.kind === 'person' && person === undefined)
      throw new Problem('unauthenticated', 'This user no longer exists');
    const accountAccess = await readAccountAccess(kysely, actor);
    const found = await readAccounts(
      kysely,
      accountAccess.map(({ accountId }) => accountId),
    );
    const accounts = accountAccess.flatMap(({ role, granted }, index) => {
      const account = found[index];
      if (account === undefined) return [];
      const permitted = [...granted].sort();
      return {
        ...viewAccount(account),
        demo: account.demo === true,
        role,
        permissions: permitted,
      };
    });
    return {
      person:
        person === undefined
          ? null
          : viewOf(MyPersonView)({ ...person, formats: await readFormats(kysely, person.id) }),
      operator: await canOperate(call.dependencies, actor),
      inbox: call.dependencies.facts.delivery === 'inbox',
      address: call.request.ip,
      accounts,
    };
  },
});

export const signOutMe = defineOperation({
  id: 'signOut',
  summary: 'Sign out of this browser',
  description: 'Ends the browser session of the cookie. Access tokens and API keys stay valid.',
  handle: (call) => call.dependencies.browser.signOut(call.request),
});

/** The caller's accounts with role and permissions; an API key has no role. */
export async function readAccountAccess(kysely: Kysely, actor: Principal) {
  if (actor.kind === 'key')
    return [{ accountId: actor.reach.accountId, role: null, granted: actor.scopes }];
  return (await readMemberships(kysely, actor)).map(({ accountId, role }) => ({
    accountId,
    role,
    granted: permissionsOf[role],
  }));
}
