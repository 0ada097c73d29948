import { readAccount } from '../account/account-store.ts';
import { readMembers } from '../account/membership-store.ts';
import { readPerson } from '../account/person-store.ts';
import { runChange } from '../change/change-resource.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';
import { sendInvitation } from '../session/invitation/invitations.ts';
import { withRunningInstallation } from './open-running.ts';
import { readAccountId } from './read-account.ts';
import { readName, readRole, readUserAddress } from './read-user.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult } from './shell.ts';

export interface InviteOptions extends JsonOption {
  readonly role: string;
  readonly name?: string;
  readonly by?: string;
}

/**
 * `user invite ACCOUNT EMAIL`: mails an invitation, in the name of an owner of the account, as the console does. The running
 * service sends it.
 * @throws OperatorError if system mail isn't configured, the user already belongs to the account, or a limit is reached
 */
export async function inviteToAccount(
  accountText: string,
  emailText: string,
  options: InviteOptions,
  shell: CommandShell,
): Promise<number> {
  const accountId = readAccountId(accountText);
  const email = readUserAddress(emailText);
  const role = readRole(options.role);
  const name = readName(options.name);
  const by = options.by === undefined ? undefined : readUserAddress(options.by);
  return withRunningInstallation(shell, async ({ config, database, key }) => {
    if (config.systemMailFrom === undefined)
      throw new OperatorError('System mail isn’t configured. Set SYSTEM_MAIL_FROM.');
    const masterKey = await key();
    const inviter = await runChange({ database }, accountId, async (transaction) => {
      const account = await readAccount(transaction, accountId);
      if (account === undefined) throw new OperatorError(`Account ${accountId} not found.`);
      if (account.suspended)
        throw new OperatorError(
          `The account ${accountId} is suspended, so nobody can be invited to it.`,
        );
      const members = await readMembers(transaction, accountId);
      if (members.some((member) => member.email === email))
        throw new OperatorError(`${email} already belongs to the account ${accountId}.`);
      const owner = await findInviter(transaction, accountId, by);
      const outcome = await sendInvitation(transaction, masterKey, {
        accountId,
        email,
        role,
        name,
        invitedBy: owner.id,
        inviter: owner,
      });
      if (outcome === 'too-soon')
        throw new OperatorError(
          'An invitation was sent less than two minutes ago. Wait and retry.',
        );
      await recordCommand(transaction, {
        kind: 'invitation_sent',
        accountId,
        detail: { id: email, role },
      });
      return owner;
    });
    printResult(
      shell,
      options,
      `Done: ${email} gets an invitation from ${inviter.name} (${inviter.email}). It expires after 7 days.`,
      { email, account: accountId, role, invitedBy: inviter.email },
    );
    return 0;
  });
}

/** The owner with this address, or the first one who isn't disabled. */
async function findInviter(
  transaction: Database['kysely'],
  accountId: AccountId,
  email: string | undefined,
) {
  const owners = (await readMembers(transaction, accountId)).filter(({ role }) => role === 'owner');
  if (email !== undefined && !owners.some((owner) => owner.email === email))
    throw new OperatorError(`--by must be an owner of the account ${accountId}, not "${email}".`);
  for (const owner of owners) {
    if (email !== undefined && owner.email !== email) continue;
    const person = await readPerson(transaction, owner.personId);
    if (person !== undefined && !person.disabled) return person;
  }
  throw new OperatorError(
    `The account ${accountId} has no owner who can invite. Add one with: signalpost user add ${accountId} EMAIL --role owner`,
  );
}
