import { type Static, Type } from 'typebox';
import { transferApiKeys } from '../../../accounts/access/api-key-store.ts';
import { lastOwnerReason } from '../../../accounts/access/last-owner-store.ts';
import { personOf } from '../../../accounts/access/principal.ts';
import type { Role } from '../../../accounts/account/account.ts';
import { removeMembership, saveMembership } from '../../../accounts/account/membership-store.ts';
import { readPerson } from '../../../accounts/account/person-store.ts';
import {
  changeInvitation,
  readMemberFacts,
  withdrawInvitation,
} from '../../../accounts/invitation/invitation-store.ts';
import { sendInvitation } from '../../../accounts/invitation/invitations.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  DescribedObject,
  NamedObject,
  Nullable,
  OptionalText,
  StrictObject,
  strict,
  Time,
} from '../../../base/values/common-schemas.ts';
import { comparableAddress } from '../../../base/values/email-address.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { conflict, forbidden, invalidField, noSystemMail } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { inTransaction, recordAudit, requireResource } from '../save-resource.ts';
import { keepingOwners } from './manage-account-routes.ts';

const UserView = NamedObject('User', {
  email: Type.String(),
  name: Type.String(),
  role: UserSchema.properties.role,
  disabled: Type.Boolean(),
  hasPassword: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  since: Time('When the user joined the account or was invited.'),
  invitation: Nullable(
    DescribedObject('Null once accepted.', {
      invitedBy: Type.String(),
      expiresAt: Time('When the invitation expires.'),
    }),
  ),
});

const viewUser = viewOf(UserView);

const userOf = resourceOf({
  kind: 'user',
  unrecorded: ['name'],
  id: 'email',
  async read(transaction, { params: { accountId, email } }) {
    const [member] = await readMemberFacts(transaction, accountId, { email });
    return member && viewUser(member);
  },
});

const KeyTransferQuery = StrictObject({
  keysTo: OptionalText(
    'Email of another owner, who takes over the API keys that this user created. Without it, the keys are revoked when the user loses the role.',
    { maxLength: 320 },
  ),
});

/**
 * Transfers the API keys a person created to another owner. Keys that remain are revoked with the role.
 * @throws Problem if the recipient isn't an owner of the account
 */
async function transferKeys(
  transaction: DatabaseTransaction,
  call: OperationCall<Static<typeof KeyTransferQuery>>,
  from: PersonId,
): Promise<void> {
  const { keysTo } = call.query;
  if (keysTo === undefined) return;
  const { accountId: id } = call.params;
  const [newOwner] = await readMemberFacts(transaction, id, {
    email: comparableAddress(keysTo),
  });
  if (
    newOwner?.personId == null ||
    newOwner.role !== 'owner' ||
    newOwner.disabled ||
    newOwner.personId === from
  )
    throw invalidField('keysTo', 'must be the email address of another owner of the account');
  const count = await transferApiKeys(transaction, id, from, newOwner.personId);
  if (count > 0)
    await recordAudit(call, transaction, 'api_keys_taken_over', call.params.email, {
      by: keysTo,
      count,
    });
}

/** An account without an owner couldn't add users anymore. */
const lastOwner = `This is the last owner of the account: ${lastOwnerReason}. Add another owner first`;

export const userRoutes = resourceRoutes({
  path: '/accounts/:accountId/users/:email',
  access: { read: 'users:read', write: 'users:write' },
  view: UserView,
  resource: userOf,
  list: {
    id: 'listUsers',
    summary: 'List users',
    key: 'email',
    read: async ({ kysely, params }, page) =>
      (await readMemberFacts(kysely, params.accountId, page)).map((user) => viewUser(user)),
  },
  get: { id: 'getUser', summary: 'Get a user' },
  put: {
    id: 'putUser',
    confirmed: true,
    summary: 'Invite a user or change their role',
    description:
      'Sends an invitation if the person isn’t a user of the account yet; they become one by accepting it and set their own password. Changing a role sends no mail. `name` prefills the name of a new person; if omitted, they enter it themselves.',
    query: KeyTransferQuery,
    body: Type.Omit(UserSchema, ['email', 'operator', 'password'], strict),
    limited: true,
    write: (call) => async (transaction, before) => {
      const { email } = call.params;
      const { role, name } = call.body;
      if (before === undefined) return inviteUser(call, transaction, { role, name });
      if (before.invitation !== null)
        return changeInvitation(transaction, call.params.accountId, email, { role, name });
      const [member] = await readMemberFacts(transaction, call.params.accountId, { email });
      if (member?.personId == null) throw new Error('a user without a person');
      const { personId } = member;
      await transferKeys(transaction, call, personId);
      return keepingOwners(call, transaction, lastOwner, () =>
        saveMembership(transaction, { accountId: call.params.accountId, personId, role }),
      );
    },
  },
  remove: {
    id: 'deleteUser',
    confirmed: true,
    summary: 'Remove a user or withdraw an invitation',
    description: 'API keys that the user created are revoked, unless `keysTo` names another owner.',
    query: KeyTransferQuery,
    write: (call) => async (transaction) => {
      const { accountId: id, email } = call.params;
      const [member] = await readMemberFacts(transaction, id, { email });
      if (member?.personId == null) return withdrawInvitation(transaction, id, email);
      const { personId } = member;
      await transferKeys(transaction, call, personId);
      return keepingOwners(call, transaction, lastOwner, () =>
        removeMembership(transaction, id, personId),
      );
    },
  },
});

export const resendInvitation = defineOperation({
  id: 'resendInvitation',
  confirmed: true,
  summary: 'Resend an invitation',
  description: 'The link in the earlier mail stops working. The new one expires after seven days.',
  answer: UserView,
  limited: true,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      await requireResource(call, userOf(call), transaction);
      const { accountId, email } = call.params;
      const [user] = await readMemberFacts(transaction, accountId, { email });
      if (user?.invitation == null) throw conflict('This user already belongs to the account');
      const { role, name } = user;
      await inviteUser(call, transaction, { role, name: name === '' ? undefined : name });
      return requireResource(call, userOf(call), transaction);
    }),
});

/**
 * Queues an invitation to the address in the path, as part of the transaction.
 * @throws Problem if system mail isn't configured, the caller isn't a person, or the last one was a moment ago
 * @throws BudgetUsedUp if the account or the address had too many links
 */
async function inviteUser(
  call: OperationCall,
  transaction: DatabaseTransaction,
  { role, name }: { readonly role: Role; readonly name: string | undefined },
): Promise<void> {
  const { systemMailEnabled, key } = call.dependencies;
  if (!systemMailEnabled) throw conflict(noSystemMail);
  const personId = personOf(actorOf(call));
  const inviter = personId && (await readPerson(transaction, personId));
  if (inviter === undefined)
    throw forbidden('Invitations name the inviter, so only a signed-in user can send them');
  const { accountId, email } = call.params;
  const outcome = await sendInvitation(transaction, key, {
    accountId,
    email,
    role,
    name,
    invitedBy: inviter.id,
    inviter,
  });
  if (outcome === 'too-soon')
    throw conflict('An invitation was sent less than two minutes ago. Wait and retry');
  await recordAudit(call, transaction, 'invitation_sent', email, { role });
}
