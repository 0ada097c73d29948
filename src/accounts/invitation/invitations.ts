import type { Kysely } from '../../base/database/open-database.ts';
import { isUniqueViolation } from '../../base/database/sqlstate.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { newId, type PersonId } from '../../base/values/ids.ts';
import { hashToken, TokenMint } from '../access/token-mint.ts';
import { checkLimits } from '../account/account-limit-store.ts';
import { lockActiveAccount } from '../account/account-store.ts';
import { readMemberships, saveMembership } from '../account/membership-store.ts';
import {
  createPerson,
  findPersonByEmail,
  markEmailVerified,
  saveLocale,
} from '../account/person-store.ts';
import { type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { mailedLinkToken } from '../notices/mailed-links.ts';
import type { Locale } from '../notices/system-mail.ts';
import { enqueueAccountLink } from '../notices/system-mail-store.ts';
import { replacePersonPassword } from '../sign-in/change-password.ts';
import type { PasswordChecker } from '../sign-in/password-checker.ts';
import type { SessionModuleDependencies } from '../sign-in/session-dependencies.ts';
import {
  consumeInvitation,
  findInvitation,
  type NewInvitation,
  type OpenInvitation,
  saveInvitation,
} from './invitation-store.ts';

/** An invitation with the inviter to show in its email. */
interface InvitationMail extends NewInvitation {
  readonly inviter: { readonly name: string; readonly email: string };
}

type InvitationOutcome = 'sent' | 'too-soon';

/**
 * Saves an invitation and its email in the caller's transaction. Replaces an earlier link for the same address.
 * @throws BudgetUsedUp if the account or the address had too many links
 */
export async function sendInvitation(
  transaction: Kysely,
  key: MasterKey,
  { inviter, ...invitation }: InvitationMail,
): Promise<InvitationOutcome> {
  const { accountId, email, role } = invitation;
  const id = newId();
  const hash = hashToken(new TokenMint(key).wrap('link', mailedLinkToken(key, id)));
  if (!(await saveInvitation(transaction, invitation, hash))) return 'too-soon';
  await enqueueAccountLink(transaction, {
    id,
    kind: 'invitation',
    accountId,
    toAddress: email,
    // New people get the inviter's language until they choose one.
    personId: (await findPersonByEmail(transaction, email))?.id ?? invitation.invitedBy,
    facts: { role, inviter: inviter.name, inviterEmail: inviter.email },
  });
  return 'sent';
}

/** What the invited person submits. */
interface InvitationAcceptance {
  /** Required unless the person is established. */
  readonly password: string | undefined;
  readonly name: string;
  readonly locale: Locale;
  readonly origin: RequestOrigin;
}

/**
 * Invitations into accounts. Only the mailed link creates a member, and people without an established sign-in set a
 * password with it, so no one can set up a sign-in for someone else (ASVS 2.5.1, 2.3.1).
 */
export class Invitations {
  readonly #kysely: Kysely;
  readonly #passwords: PasswordChecker;
  readonly #mint: TokenMint;

  constructor({ database, key }: SessionModuleDependencies, passwords: PasswordChecker) {
    this.#kysely = database.kysely;
    this.#passwords = passwords;
    this.#mint = new TokenMint(key);
  }

  /** The invitation of a link; undefined if it was used or withdrawn, has expired, or the account is suspended. */
  async find(token: string): Promise<OpenInvitation | undefined> {
    return this.#mint.recognizes('link', token)
      ? findActiveInvitation(this.#kysely, hashToken(token))
      : undefined;
  }

  /**
   * Makes the person a member. A person who is not established gets the password, and everything opened with another
   * one ends.
   * @returns false if the invitation is no longer open, or the person was changed concurrently
   * @throws TemporarilyUnavailable if too many passwords are waiting
   * @throws AccountLimitReached if the account has the most users that it can have
   */
  async accept(token: string, acceptance: InvitationAcceptance): Promise<boolean> {
    const open = await this.find(token);
    if (open === undefined) return false;
    const { password } = acceptance;
    if (!open.established && password === undefined) return false;
    const passwordHash =
      open.established || password === undefined
        ? undefined
        : await this.#passwords.hash(password, open.email);
    try {
      return await this.#kysely
        .transaction()
        .execute((transaction) => this.#accept(transaction, token, acceptance, passwordHash));
    } catch (error) {
      // Another invitation for the same new person was accepted concurrently.
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  }

  async #accept(
    transaction: Kysely,
    token: string,
    { name, locale, origin }: InvitationAcceptance,
    passwordHash: string | undefined,
  ): Promise<boolean> {
    const hash = hashToken(token);
    const open = await findActiveInvitation(transaction, hash);
    if (open === undefined || (!open.established && passwordHash === undefined)) return false;
    if (!(await consumeInvitation(transaction, hash))) return false;
    const { accountId, role } = open;
    const personId = await this.#savePerson(transaction, open, name, passwordHash);
    await markEmailVerified(transaction, personId);
    await saveLocale(transaction, personId, locale, true);
    const memberships = await readMemberships(transaction, { personId, reach: { accountId } });
    if (memberships.length === 0) {
      await saveMembership(transaction, { accountId, personId, role });
      await checkLimits(transaction, accountId, ['users']);
    }
    const kind = 'invitation_accepted';
    await recordAuditEvent(transaction, { kind, personId, accountId, origin, detail: { role } });
    return true;
  }

  /** Creates the invited person, or sets the password of one that is not established. */
  async #savePerson(
    transaction: Kysely,
    { personId, email, established }: OpenInvitation,
    name: string,
    passwordHash: string | undefined,
  ): Promise<PersonId> {
    if (personId === null)
      return (await createPerson(transaction, { email, name: name || email, passwordHash })).id;
    if (!established && passwordHash !== undefined)
      await replacePersonPassword(transaction, personId, passwordHash, 'password-set-by-link');
    return personId;
  }

  /** Consumes a link without accepting it. */
  async decline(token: string, origin: RequestOrigin): Promise<void> {
    const open = await this.find(token);
    if (open === undefined) return;
    const { accountId } = open;
    const personId = open.personId ?? undefined;
    await this.#kysely.transaction().execute(async (transaction) => {
      if (!(await consumeInvitation(transaction, hashToken(token)))) return;
      const kind = 'invitation_declined';
      await recordAuditEvent(transaction, { kind, personId, accountId, origin });
    });
  }
}

async function findActiveInvitation(
  kysely: Kysely,
  hash: Buffer,
): Promise<OpenInvitation | undefined> {
  const open = await findInvitation(kysely, hash);
  return open && (await lockActiveAccount(kysely, open.accountId)) ? open : undefined;
}
