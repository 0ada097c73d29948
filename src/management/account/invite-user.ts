import { personOf } from '../../access/principal.ts';
import type { Role } from '../../account/account.ts';
import { readPerson } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import {
  maxInvitationsPerAddressPerDay,
  maxInvitationsPerDay,
} from '../../session/invitation/invitation-store.ts';
import { noSystemMail, Problem } from '../answer/problem.ts';
import { accountOf, actorOf, type OperationCall } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';

/**
 * Mails an invitation to the address of the path, in the transaction.
 * @throws Problem where there is no mail of the service itself, no person who invites, or too much of it
 */
export async function inviteUser(
  call: OperationCall,
  transaction: DatabaseTransaction,
  { role, name }: { readonly role: Role; readonly name: string | undefined },
): Promise<void> {
  const { invitations } = call.dependencies;
  if (!invitations.mailEnabled) throw new Problem('conflict', noSystemMail);
  const personId = personOf(actorOf(call));
  const inviter = personId && (await readPerson(transaction, personId));
  if (inviter === undefined)
    throw new Problem('forbidden', 'An invitation names who invites, so only a person can invite');
  const { id: accountId, name: accountName } = accountOf(call);
  const { email } = call.params;
  const outcome = await invitations.invite(transaction, {
    accountId,
    accountName,
    email,
    role,
    name,
    invitedBy: inviter.id,
    inviter,
  });
  if (outcome === 'too-soon')
    throw new Problem('conflict', 'An invitation was mailed less than two minutes ago');
  if (outcome === 'too-many')
    throw new Problem(
      'too-many-requests',
      `An account can mail ${maxInvitationsPerDay} invitations a day`,
      { retryAfter: 3_600 },
    );
  if (outcome === 'too-many-to-address')
    throw new Problem(
      'too-many-requests',
      `An account can mail ${maxInvitationsPerAddressPerDay} invitations a day to one address`,
      { retryAfter: 3_600 },
    );
  await recordAudit(call, transaction, 'invitation_sent', email, { role });
}
