import { hashToken, type TokenMint } from '../access/token-mint.ts';
import type { Person } from '../account/account.ts';
import { markEmailVerified, type PersonWithPassword, readPerson } from '../account/person-store.ts';
import { AuditStore, type RequestOrigin } from '../audit/audit-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { newId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { networkOf } from '../foundation/network/ip-address.ts';
import type { MailedLinks } from '../outbox/mailed-links.ts';
import { allowPasswordLinks, enqueuePasswordLink } from '../outbox/system-mail-store.ts';
import { replacePersonPassword } from './change-password.ts';
import type { LinkedPerson, PasswordLinkStore } from './one-time-link-store.ts';
import type { PasswordChecker } from './password-checker.ts';

export interface PasswordLinksDependencies {
  readonly database: Database;
  readonly store: PasswordLinkStore;
  readonly mint: TokenMint;
  readonly passwords: PasswordChecker;
  readonly audit: AuditStore;
  readonly log: Log;
  readonly findPerson: (email: string) => Promise<PersonWithPassword | undefined>;
  readonly mailedLinks: MailedLinks;
  /** False: no system mail is sent. */
  readonly mailEnabled: boolean;
}

/** Sets a first or new password with a mailed link. */
export class PasswordLinks {
  readonly #dependencies: PasswordLinksDependencies;
  readonly #pending = new Set<Promise<void>>();

  constructor(dependencies: PasswordLinksDependencies) {
    this.#dependencies = dependencies;
  }

  /** False if no system mail is sent; people must then ask an operator. */
  get mailEnabled(): boolean {
    return this.#dependencies.mailEnabled;
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
    const { database, findPerson, store, mint, mailedLinks, mailEnabled } = this.#dependencies;
    const person = await findPerson(email);
    if (person === undefined || person.disabled || !mailEnabled) return;
    const id = newId();
    const hash = hashToken(mint.wrap('link', mailedLinks.token(id)));
    await database.kysely.transaction().execute(async (transaction) => {
      if (!(await store.lockIfDue(transaction, person.id))) return;
      const mail = { id, toAddress: person.email, personId: person.id };
      const sent = await enqueuePasswordLink(transaction, mail, networkOf(origin.remoteAddress));
      if (sent === undefined) return;
      await store.add(transaction, person.id, hash, sent.isLast);
      const audit = new AuditStore({ kysely: transaction });
      const kind = 'password_link_sent';
      await audit.record({ kind, outcome: 'success', personId: person.id, origin });
    });
  }

  /** Whose password the link can still set; undefined if it was used or has expired. */
  async find(token: string): Promise<LinkedPerson | undefined> {
    const { store, mint } = this.#dependencies;
    return mint.recognizes('link', token) ? store.find(hashToken(token)) : undefined;
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
    const { database, store, passwords, audit } = this.#dependencies;
    const passwordHash = await passwords.hash(password, linked.email);
    const personId = await database.kysely.transaction().execute(async (transaction) => {
      const ownerId = await store.consume(transaction, hashToken(token));
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
    await audit.record({ kind: 'password_set_by_link', outcome: 'success', personId, origin });
    return readPerson(database.kysely, personId);
  }

  /** Resolves when no email is in progress. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
