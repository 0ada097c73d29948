import { TokenMint } from '../../accounts/access/token-mint.ts';
import { type Role, roles } from '../../accounts/account/account.ts';
import { readAccount } from '../../accounts/account/account-store.ts';
import {
  readMembers,
  readMemberships,
  saveMembership,
} from '../../accounts/account/membership-store.ts';
import {
  createPerson,
  findPersonByEmail,
  readPerson,
} from '../../accounts/account/person-store.ts';
import { sendInvitation } from '../../accounts/invitation/invitations.ts';
import { createPasswordLink } from '../../accounts/sign-in/one-time-link-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { runChange } from '../change/change-resource.ts';
import { onAccount } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { serviceUrl } from './service-url.ts';
import { printResult } from './shell.ts';

interface UserOptions {
  readonly role: string;
  readonly name?: string;
}

interface InviteOptions extends UserOptions {
  readonly by?: string;
}

export const newUserCommands = {
  /**
   * `user add ACCOUNT EMAIL`: adds a user to an account. A user without a password gets a link to set one, which is
   * printed, so that the operator can hand it over.
   */
  add: onAccount((emailText: string, options: UserOptions) => {
    const email = readUserAddress(emailText);
    const role = readRole(options.role);
    const name = readName(options.name);
    return async ({ shell, config, database, key, accountId }) => {
      const mint = new TokenMint(await key());
      const link = await runChange({ database }, accountId, async (transaction) => {
        const known = await findPersonByEmail(transaction, email);
        if (known?.disabled)
          throw new OperatorError(`${email} is disabled. Enable the user first.`);
        const person =
          known ??
          (await createPerson(transaction, {
            email,
            name: name ?? email,
            passwordHash: undefined,
          }));
        const reached = { personId: person.id, reach: { accountId } };
        if ((await readMemberships(transaction, reached)).length > 0)
          throw new OperatorError(`${email} already belongs to the account ${accountId}.`);
        await saveMembership(transaction, { accountId, personId: person.id, role });
        const detail = { id: email, role };
        await recordCommand(transaction, { kind: 'user_created', accountId, detail });
        if (known?.passwordHash !== undefined) return undefined;
        const token = mint.mint('link');
        if (!(await createPasswordLink(transaction, person.id, token.hash))) return undefined;
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
      printResult(shell, text.join('\n'), result);
    };
  }),
  /**
   * `user invite ACCOUNT EMAIL`: mails an invitation, in the name of an owner of the account, as the console does. The
   * running service sends it.
   */
  invite: onAccount((emailText: string, options: InviteOptions) => {
    const email = readUserAddress(emailText);
    const role = readRole(options.role);
    const name = readName(options.name);
    const by = options.by === undefined ? undefined : readUserAddress(options.by);
    return async ({ shell, config, database, key, accountId }) => {
      if (config.systemMailFrom === undefined)
        throw new OperatorError('System mail isn’t configured. Set SYSTEM_MAIL_FROM.');
      const masterKey = await key();
      const inviter = await runChange({ database }, accountId, async (transaction) => {
        if ((await readAccount(transaction, accountId))?.suspended)
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
        const detail = { id: email, role };
        await recordCommand(transaction, { kind: 'invitation_sent', accountId, detail });
        return owner;
      });
      printResult(
        shell,
        `Done: ${email} gets an invitation from ${inviter.name} (${inviter.email}). It expires after 7 days.`,
        { email, account: accountId, role, invitedBy: inviter.email },
      );
    };
  }),
};

/** The owner with this address, or the first one who isn't disabled. */
async function findInviter(transaction: Kysely, accountId: AccountId, email: string | undefined) {
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

const maxNameLength = 200;

/** @throws OperatorError if invalid */
export function readUserAddress(text: string): string {
  const parsed = parseEmailAddress(text);
  if (!parsed.ok) throw new OperatorError(`The email address "${text}" ${parsed.reason}.`);
  return normalizeAddress(parsed.address);
}

/** @throws OperatorError if unknown */
function readRole(text: string): Role {
  const role = roles.find((known) => known === text);
  if (role === undefined)
    throw new OperatorError(`--role must be one of ${roles.join(', ')}, not "${text}".`);
  return role;
}

/** @throws OperatorError if blank or too long */
function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!/\S/.test(text) || isLonger(text, maxNameLength) || /\p{Cc}/u.test(text))
    throw new OperatorError(`--name must have 1 to ${maxNameLength} printable characters.`);
  return text.trim();
}
