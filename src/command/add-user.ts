import { TokenMint } from '../access/token-mint.ts';
import { readMemberships, saveMembership } from '../account/membership-store.ts';
import { createPerson, findPersonByEmail } from '../account/person-store.ts';
import { runChange } from '../change/change-resource.ts';
import { OperatorError } from '../foundation/errors.ts';
import { PasswordLinkStore } from '../session/one-time-link-store.ts';
import { withRunningInstallation } from './open-running.ts';
import { readAccountId } from './read-account.ts';
import { readName, readRole, readUserAddress } from './read-user.ts';
import { recordCommand } from './record-command.ts';
import { requireAccount } from './require-account.ts';
import { serviceUrl } from './service-url.ts';
import { type CommandShell, type JsonOption, printResult } from './shell.ts';

export interface AddUserOptions extends JsonOption {
  readonly role: string;
  readonly name?: string;
}

/**
 * `user add ACCOUNT EMAIL`: adds a user to an account. A user without a password gets a link to set one, which is printed, so
 * that the operator can hand it over.
 * @throws OperatorError if the user already belongs to the account, or is disabled
 */
export async function addUser(
  accountText: string,
  emailText: string,
  options: AddUserOptions,
  shell: CommandShell,
): Promise<number> {
  const accountId = readAccountId(accountText);
  const email = readUserAddress(emailText);
  const role = readRole(options.role);
  const name = readName(options.name);
  return withRunningInstallation(shell, async ({ config, database, key }) => {
    await requireAccount(database.kysely, accountId);
    const mint = new TokenMint(await key());
    const link = await runChange({ database }, accountId, async (transaction) => {
      const known = await findPersonByEmail(transaction, email);
      if (known?.disabled) throw new OperatorError(`${email} is disabled. Enable the user first.`);
      const person =
        known ??
        (await createPerson(transaction, { email, name: name ?? email, passwordHash: undefined }));
      const reached = { personId: person.id, reach: { accountId } };
      if ((await readMemberships(transaction, reached)).length > 0)
        throw new OperatorError(`${email} already belongs to the account ${accountId}.`);
      await saveMembership(transaction, { accountId, personId: person.id, role });
      await recordCommand(transaction, {
        kind: 'user_created',
        accountId,
        detail: { id: email, role },
      });
      if (known?.passwordHash !== undefined) return undefined;
      const token = mint.mint('link');
      const store = new PasswordLinkStore({ kysely: transaction });
      if (!(await store.create(transaction, person.id, token.hash))) return undefined;
      await recordCommand(transaction, { kind: 'password_link_made', personId: person.id });
      return `${serviceUrl(config)}/set-password/${token.text}`;
    });
    const text = [
      `Done: ${email} is ${role} of the account ${accountId}.`,
      ...(link === undefined
        ? []
        : ['To set a password, open this link once, within 30 minutes:', link]),
    ];
    const result = { email, account: accountId, role, passwordLink: link ?? null };
    printResult(shell, options, text.join('\n'), result);
    return 0;
  });
}
