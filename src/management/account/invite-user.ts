import { personOf } from '../../access/principal.ts';
import type { Role } from '../../account/account.ts';
import { readPerson } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { noSystemMail, Problem } from '../answer/problem.ts';
import { accountOf, actorOf, type OperationCall } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';

/**
 * Queues an invitation to the address in the path, as part of the transaction.
 * @throws Problem if system mail isn't configured, the caller isn't a person, or the last one was a moment ago
 * @throws BudgetUsedUp if the account or the address had too many links
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
    throw new Problem(
      'forbidden',
      'Invitations name the inviter, so only a signed-in user can send them',
    );
  const { id: accountId } = accountOf(call);
  const { email } = call.params;
  const outcome = await invitations.invite(transaction, {
    accountId,
    email,
    role,
    name,
    invitedBy: inviter.id,
    inviter,
  });
  if (outcome === 'too-soon')
    throw new Problem(
      'conflict',
      'An invitation was sent less than two minutes ago. Wait and retry',
    );
  await recordAudit(call, transaction, 'invitation_sent', email, { role });
}
