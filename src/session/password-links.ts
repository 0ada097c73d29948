import { hashToken, type TokenMint } from '../access/token-mint.ts';
import { type PersonWithPassword, readPerson } from '../account/person-store.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { AuditStore, Origin } from './audit-store.ts';
import { replacePassword } from './change-password.ts';
import type { PasswordChecker } from './password-checker.ts';
import { type PasswordLinkStore, passwordLinkMinutes } from './password-link-store.ts';

/** What the mail with the link says. */
export interface PasswordLinkMail {
  readonly toAddress: string;
  readonly name: string;
  readonly link: string;
  readonly expiresIn: string;
}

/** Sends the mail through the service's own send path; undefined where no template is set for it. */
export type SendPasswordLink = ((mail: PasswordLinkMail) => Promise<void>) | undefined;

export interface PasswordLinksParts {
  readonly database: Database;
  readonly store: PasswordLinkStore;
  readonly mint: TokenMint;
  readonly passwords: PasswordChecker;
  readonly audit: AuditStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly findPerson: (email: string) => Promise<PersonWithPassword | undefined>;
  readonly send: SendPasswordLink;
  readonly publicUrl: () => string;
}

/** A first or another password by a mailed link. */
export class PasswordLinks {
  readonly #parts: PasswordLinksParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: PasswordLinksParts) {
    this.#parts = parts;
  }

  /** False where nobody set a template for these mails; then people have to ask an operator. */
  get offered(): boolean {
    return this.#parts.send !== undefined;
  }

  /** Sends a link where the address belongs to somebody. Returns at once, so that its time tells nobody whether it does. */
  request(email: string, origin: Origin): void {
    const work = this.#send(email, origin).catch((error: unknown) =>
      this.#parts.log.error({ err: error }, 'a password link could not be sent'),
    );
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #send(email: string, origin: Origin): Promise<void> {
    const { findPerson, store, mint, send, clock, publicUrl, audit } = this.#parts;
    const person = await findPerson(email);
    if (person === undefined || person.disabled || send === undefined) return;
    const token = mint.mint('link');
    if (!(await store.create(person.id, token.hash, clock.offset))) return;
    await send({
      toAddress: person.email,
      name: person.name,
      link: `${publicUrl()}/set-password/${token.text}`,
      expiresIn: `${passwordLinkMinutes} minutes`,
    });
    const kind = 'password_link_sent';
    await audit.record({ kind, outcome: 'success', personId: person.id, origin });
  }

  isLive(token: string): Promise<boolean> {
    const { store, mint, clock } = this.#parts;
    if (!mint.recognises('link', token)) return Promise.resolve(false);
    return store.isLive(hashToken(token), clock.offset);
  }

  /**
   * Sets the password and ends everything that the old one opened; spending the link and setting the password are one
   * transaction, so a link is worth its password or nothing.
   * @returns the person's address; undefined where the link was used or has expired
   * @throws TemporarilyUnavailable where too many passwords wait already
   */
  async use(token: string, password: string, origin: Origin): Promise<string | undefined> {
    // Whoever has no link makes no work.
    if (!(await this.isLive(token))) return undefined;
    const { database, store, passwords, clock, audit } = this.#parts;
    const passwordHash = await passwords.hash(password);
    const personId = await database.kysely.transaction().execute(async (transaction) => {
      const spender = await store.spend(transaction, hashToken(token), clock.offset);
      if (spender !== undefined) await replacePassword(transaction, spender, passwordHash);
      return spender;
    });
    if (personId === undefined) return undefined;
    await audit.record({ kind: 'password_set_by_link', outcome: 'success', personId, origin });
    return (await readPerson(database.kysely, personId))?.email;
  }

  /** Resolves when no mail is under way. */
  async drain(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
