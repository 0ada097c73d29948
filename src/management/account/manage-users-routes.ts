import { type Static, Type } from 'typebox';
import { takeOverApiKeys } from '../../access/api-key-store.ts';
import { removeMembership } from '../../account/membership-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { changeInvitation, withdrawInvitation } from '../../session/invitation/invitation-store.ts';
import { limitOf, pageOf, pageQuery, readCursor, toPage } from '../answer/page.ts';
import { invalid, Problem } from '../answer/problem.ts';
import { Nullable, strict, Time } from '../answer/schema-parts.ts';
import { applyPart } from '../apply-part.ts';
import {
  inTransaction,
  record,
  removeResource,
  requireResource,
  saveResource,
  type Transaction,
} from '../change-resource.ts';
import { accountOf, type Call, endpoint, type Wire } from '../endpoint.ts';
import { countOwners, type MemberFacts, readMemberFacts } from './account-people-store.ts';
import { invite } from './invite-user.ts';

const UserView = Type.Object(
  {
    email: Type.String(),
    name: Type.String(),
    role: UserSchema.properties.role,
    disabled: Type.Boolean(),
    hasPassword: Type.Boolean(),
    hasSecondFactor: Type.Boolean(),
    since: Time('When the person became a user of the account, or was invited.'),
    invitation: Nullable(
      Type.Object(
        { invitedBy: Type.String(), expiresAt: Time('Until when it can be accepted.') },
        { ...strict, description: 'Null once the person has accepted.' },
      ),
    ),
  },
  { ...strict, title: 'User' },
);

function viewUser({ personId: _, ...facts }: MemberFacts): Wire<Static<typeof UserView>> {
  return facts;
}

function userChange(call: Call) {
  const { email } = call.params;
  return {
    kind: 'user',
    id: email,
    async read(transaction: Transaction) {
      const [member] = await readMemberFacts(transaction, accountOf(call).id, { email });
      return member && viewUser(member);
    },
  };
}

const KeysTo = Type.Object(
  {
    keysTo: Type.Optional(
      Type.String({
        description:
          'Address of another owner of the account, who takes over the API keys that the person made. Without it they end with the role.',
        maxLength: 320,
      }),
    ),
  },
  strict,
);

/**
 * Gives the keys that a person made to another owner; what is left of them ends with the role.
 * @throws Problem where the other one is no owner of the account
 */
async function handKeysOver(
  transaction: Transaction,
  call: Call<Static<typeof KeysTo>>,
  from: PersonId | undefined,
): Promise<void> {
  const { keysTo } = call.query;
  if (keysTo === undefined || from === undefined) return;
  const { id } = accountOf(call);
  const [heir] = await readMemberFacts(transaction, id, { email: keysTo });
  if (heir?.personId == null || heir.role !== 'owner' || heir.disabled || heir.personId === from)
    throw invalid('keysTo', 'must be the address of another owner of the account');
  const count = await takeOverApiKeys(transaction, id, from, heir.personId);
  if (count > 0)
    await record(call, transaction, 'api_keys_taken_over', call.params.email, {
      by: keysTo,
      count,
    });
}

/** Somebody must be left who can let others in. */
async function requireOwnerLeft(transaction: Transaction, call: Call): Promise<void> {
  if ((await countOwners(transaction, accountOf(call).id)) > 0) return;
  throw new Problem('conflict', 'This is the last owner of the account; name another one first');
}

export const listUsers = endpoint({
  id: 'listUsers',
  summary: 'List the users of an account',
  query: pageQuery({}),
  answer: pageOf(UserView),
  async handle(call) {
    const limit = limitOf(call.query);
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const rows = await readMemberFacts(call.parts.database.kysely, accountOf(call).id, {
      after,
      limit: limit + 1,
    });
    return toPage(rows, limit, viewUser, ({ email }) => [email]);
  },
});

export const getUser = endpoint({
  id: 'getUser',
  summary: 'Read a user',
  answer: UserView,
  handle: (call) => requireResource(call, userChange(call)),
});

export const putUser = endpoint({
  id: 'putUser',
  summary: 'Invite a person into an account, or change the role',
  description:
    'Whoever is no user of the account yet is mailed an invitation and is one once it is accepted; nobody can set a password for somebody else. Changing a role mails nothing. `name` is what a new person is called until they say otherwise; left out, they say it themselves.',
  query: KeysTo,
  body: Type.Omit(UserSchema, ['email', 'operator', 'password'], strict),
  answer: UserView,
  conditional: true,
  limited: true,
  handle: (call) =>
    saveResource(call, {
      ...userChange(call),
      async write(transaction, before) {
        const { email } = call.params;
        const { role, name } = call.body;
        if (before === undefined) return invite(call, transaction, { role, name });
        if (before.invitation !== null)
          return changeInvitation(transaction, accountOf(call).id, email, { role, name });
        const [member] = await readMemberFacts(transaction, accountOf(call).id, { email });
        await handKeysOver(transaction, call, member?.personId ?? undefined);
        await applyPart(call, transaction, { users: [{ email, role }] });
        return requireOwnerLeft(transaction, call);
      },
    }),
});

export const resendInvitation = endpoint({
  id: 'resendInvitation',
  summary: 'Mail an invitation again',
  description: 'The link of the earlier mail ends. The new one can be accepted for seven days.',
  answer: UserView,
  limited: true,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      await requireResource(call, userChange(call), transaction);
      const { id } = accountOf(call);
      const [user] = await readMemberFacts(transaction, id, { email: call.params.email });
      if (user?.invitation == null)
        throw new Problem('conflict', 'This person is a user of the account already');
      const { role, name } = user;
      await invite(call, transaction, { role, name: name === '' ? undefined : name });
      return requireResource(call, userChange(call), transaction);
    }),
});

export const deleteUser = endpoint({
  id: 'deleteUser',
  summary: 'Remove a user from an account, or withdraw an invitation',
  description: 'The API keys that the person made end, unless `keysTo` names another owner.',
  query: KeysTo,
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...userChange(call),
      async write(transaction) {
        const { id } = accountOf(call);
        const { email } = call.params;
        const [member] = await readMemberFacts(transaction, id, { email });
        if (member?.personId == null) {
          await withdrawInvitation(transaction, id, email);
          return;
        }
        await handKeysOver(transaction, call, member.personId);
        await removeMembership(transaction, id, member.personId);
        await requireOwnerLeft(transaction, call);
      },
    }),
});
