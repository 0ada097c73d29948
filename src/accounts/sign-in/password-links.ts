import { networkOf } from '../../base/network/ip-address.ts';
import { newId } from '../../base/values/ids.ts';
import { hashToken, TokenMint } from '../access/token-mint.ts';
import type { Person } from '../account/account.ts';
import { findPersonByEmail, markEmailVerified, readPerson } from '../account/person-store.ts';
import { type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { mailedLinkToken } from '../notices/mailed-links.ts';
import { allowPasswordLinks, enqueuePasswordLink } from '../notices/system-mail-store.ts';
import { replacePersonPassword } from './change-password.ts';
import {
  addPasswordLink,
  consumePasswordLink,
  findPasswordLink,
  type LinkedPerson,
  lockIfLinkIsDue,
} from './one-time-link-store.ts';
import type { PasswordChecker } from './password-checker.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';

/** Sets a first or new password with a mailed link. */
export class PasswordLinks {
  readonly #dependencies: SessionModuleDependencies;
  readonly #passwords: PasswordChecker;
  readonly #mint: TokenMint;
  readonly #pending = new Set<Promise<void>>();

  constructor(dependencies: SessionModuleDependencies, passwords: PasswordChecker) {
    this.#dependencies = dependencies;
    this.#passwords = passwords;
    this.#mint = new TokenMint(dependencies.key);
  }

  /**
   * Sends a link if the address belongs to a person who hasn't got too many. Returns at once, so timing doesn't reveal whether it
   * does.
   */
  request(email: string, origin: RequestOrigin): void {
    const work = this.#send(email, origin).catch((error: unknown) =>
      this.#dependencies.log.error({ err: error }, 'could not send a password link'),
    );
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  async #send(email: string, origin: RequestOrigin): Promise<void> {
    const { database, systemMailEnabled } = this.#dependencies;
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined || person.disabled || !systemMailEnabled) return;
    const id = newId();
    const hash = hashToken(this.#mint.wrap('link', mailedLinkToken(this.#dependencies.key, id)));
    await database.kysely.transaction().execute(async (transaction) => {
      if (!(await lockIfLinkIsDue(transaction, person.id))) return;
      const mail = { id, toAddress: person.email, personId: person.id };
      const sent = await enqueuePasswordLink(transaction, mail, networkOf(origin.remoteAddress));
      if (sent === undefined) return;
      await addPasswordLink(transaction, person.id, hash, sent.isLast);
      const kind = 'password_link_sent';
      await recordAuditEvent(transaction, { kind, personId: person.id, origin });
    });
  }

  /** Whose password the link can still set; undefined if it was used or has expired. */
  async find(token: string): Promise<LinkedPerson | undefined> {
    return this.#mint.recognizes('link', token)
      ? findPasswordLink(this.#dependencies.database.kysely, hashToken(token))
      : undefined;
  }

  /**
   * Sets the password and revokes everything that the old one opened. Consuming the link and setting the password are
   * one transaction, so the link works exactly once.
   * @returns the person; undefined if the link was used or has expired
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  async use(token: string, password: string, origin: RequestOrigin): Promise<Person | undefined> {
    // Don't hash a password for an invalid link.
    const linked = await this.find(token);
    if (linked === undefined) return undefined;
    const { kysely } = this.#dependencies.database;
    const passwordHash = await this.#passwords.hash(password, linked.email);
    const personId = await kysely.transaction().execute(async (transaction) => {
      const ownerId = await consumePasswordLink(transaction, hashToken(token));
      if (ownerId === undefined) return undefined;
      await replacePersonPassword(transaction, ownerId, passwordHash, 'password-set-by-link');
      await markEmailVerified(transaction, ownerId);
      const email = (await readPerson(transaction, ownerId))?.email;
      // Whoever used a link got the mail, so what others asked for no longer counts against them.
      if (email !== undefined)
        await allowPasswordLinks(transaction, email, networkOf(origin.remoteAddress));
      return ownerId;
    });
    if (personId === undefined) return undefined;
    await recordAuditEvent(kysely, { kind: 'password_set_by_link', personId, origin });
    return readPerson(kysely, personId);
  }

  /** Resolves when no email is in progress. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
