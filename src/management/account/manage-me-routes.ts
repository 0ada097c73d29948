import { Type } from 'typebox';
import { mayOperate, permissionsIn } from '../access/admit-actor.ts';
import { permissions } from '../access/permission.ts';
import { Problem } from '../answer/problem.ts';
import { Nullable, strict } from '../answer/schema-parts.ts';
import { actorOf, endpoint } from '../endpoint.ts';
import { AccountView, viewAccount } from './account-view.ts';

const MyAccountView = Type.Object(
  {
    ...AccountView.properties,
    role: Nullable(Type.String({ description: 'Null for an API key.' })),
    permissions: Type.Array(Type.Enum([...permissions])),
  },
  { ...strict, title: 'MyAccount' },
);

export const getMe = endpoint({
  id: 'getMe',
  summary: 'Read who is calling and what the caller may do where',
  answer: Type.Object(
    {
      person: Nullable(
        Type.Object(
          { id: Type.String(), email: Type.String(), name: Type.String() },
          { ...strict, description: 'Null for an API key.' },
        ),
      ),
      operator: Type.Boolean({ description: 'Looks after the installation as a whole.' }),
      accounts: Type.Array(MyAccountView),
    },
    { ...strict, title: 'Me' },
  ),
  async handle(call) {
    const actor = actorOf(call);
    const { accounts } = call.parts;
    const memberships =
      actor.kind === 'person'
        ? (await accounts.memberships(actor.personId)).filter(
            ({ accountId }) => actor.boundTo === undefined || actor.boundTo === accountId,
          )
        : [{ accountId: actor.accountId, role: null }];
    const list = [];
    for (const { accountId, role } of memberships) {
      const account = await accounts.account(accountId);
      const granted = await permissionsIn(call.parts, actor, accountId);
      if (account === undefined || granted === undefined) continue;
      list.push({ ...viewAccount(account), role, permissions: [...granted].sort() });
    }
    const person = actor.kind === 'person' ? await accounts.person(actor.personId) : undefined;
    if (actor.kind === 'person' && person === undefined)
      throw new Problem('unauthenticated', 'This person is not known any more');
    return {
      person:
        person === undefined ? null : { id: person.id, email: person.email, name: person.name },
      operator: await mayOperate(call.parts, actor),
      accounts: list,
    };
  },
});
