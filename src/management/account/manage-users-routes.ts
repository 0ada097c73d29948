import { type Static, Type } from 'typebox';
import { takeOverApiKeys } from '../../access/api-key-store.ts';
import { removeMembership } from '../../account/membership-store.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { limitOf, pageOf, pageQuery, readCursor, toPage } from '../answer/page.ts';
import { invalid, Problem } from '../answer/problem.ts';
import { strict, Time } from '../answer/schema-parts.ts';
import { applyPart } from '../apply-part.ts';
import {
  record,
  removeResource,
  requireResource,
  saveResource,
  type Transaction,
} from '../change-resource.ts';
import { accountOf, type Call, endpoint, type Wire } from '../endpoint.ts';
import { countOwners, type MemberFacts, readMemberFacts } from './account-people-store.ts';

const UserView = Type.Object(
  {
    email: Type.String(),
    name: Type.String(),
    role: UserSchema.properties.role,
    disabled: Type.Boolean(),
    hasPassword: Type.Boolean(),
    hasSecondFactor: Type.Boolean(),
    since: Time('When the person became a user of the account.'),
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
  if (heir === undefined || heir.role !== 'owner' || heir.disabled || heir.personId === from)
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
  summary: 'Add a user to an account, or change the role',
  description:
    'Name and password are taken for people whom the installation does not know yet: those who exist belong to themselves. What is left out stays as it is.',
  query: KeysTo,
  body: Type.Omit(UserSchema, ['email', 'operator'], strict),
  answer: UserView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...userChange(call),
      async write(transaction) {
        const { email } = call.params;
        const { role, name, password } = call.body;
        const known = await findPersonByEmail(transaction, email);
        if (known !== undefined && password !== undefined)
          throw invalid('password', 'cannot be set for somebody who exists');
        const user = known === undefined ? call.body : { role };
        if (known === undefined && name === undefined) throw invalid('name', 'is missing');
        await handKeysOver(transaction, call, known?.id);
        await applyPart(call, transaction, { users: [{ ...user, email }] });
        await requireOwnerLeft(transaction, call);
      },
    }),
});

export const deleteUser = endpoint({
  id: 'deleteUser',
  summary: 'Remove a user from an account',
  description: 'The API keys that the person made end, unless `keysTo` names another owner.',
  query: KeysTo,
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...userChange(call),
      async write(transaction) {
        const { id } = accountOf(call);
        const [member] = await readMemberFacts(transaction, id, { email: call.params.email });
        if (member === undefined) return;
        await handKeysOver(transaction, call, member.personId);
        await removeMembership(transaction, id, member.personId);
        await requireOwnerLeft(transaction, call);
      },
    }),
});
