import type { PersonWithPassword } from '../account/person-store.ts';
import { comparableAddress } from '../foundation/email-address.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import { TemporarilyUnavailable } from './oauth-errors.ts';
import type { PasswordChecker } from './password-checker.ts';

/** Longest possible email address (RFC 5321 section 4.5.3.1.3). */
const maxAddressLength = 254;

export interface PasswordAuthenticatorDependencies {
  readonly findPerson: (email: string) => Promise<PersonWithPassword | undefined>;
  readonly passwords: PasswordChecker;
  /** Replaces a hash; resolves with false if the person has another one by now. */
  readonly renewHash: (person: PersonWithPassword, passwordHash: string) => Promise<boolean>;
  /** Whether a person's password opens nothing beyond an account. */
  readonly belongsOnlyTo: (person: PersonWithPassword, accountId: AccountId) => Promise<boolean>;
  readonly throttle: LoginThrottle;
  /** Whether a person must sign in with a provider, which makes their password useless. */
  readonly mustUseProvider: (person: PersonWithPassword) => Promise<boolean>;
}

type ClientOrigin = Extract<GuessOrigin, { readonly kind: 'client' }>;

/** The origin of a password. Whether a client guesses a stranger's is for the authenticator to find out. */
type PasswordOrigin = Exclude<GuessOrigin, ClientOrigin> | Omit<ClientOrigin, 'isForeign'>;

/** The result of checking an address and a password. */
export interface PasswordAuthentication {
  /** The authenticated person, or undefined. */
  readonly person: PersonWithPassword | undefined;
  /** The person with this address, authenticated or not; for the audit log only. */
  readonly claimed: PersonWithPassword | undefined;
  /** The password is correct, but the person must sign in with a provider. */
  readonly needsProvider: boolean;
}

/**
 * Authenticates people by address and password and throttles guessing; unknown people take the same time and get the
 * same response.
 */
export class PasswordAuthenticator {
  readonly #dependencies: PasswordAuthenticatorDependencies;

  constructor(dependencies: PasswordAuthenticatorDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws SlowDown if guesses come too fast, TemporarilyUnavailable if too many passwords are waiting */
  async authenticate(
    email: string,
    password: string,
    origin: PasswordOrigin,
  ): Promise<PasswordAuthentication> {
    const { findPerson, passwords, throttle, mustUseProvider } = this.#dependencies;
    const address = comparableAddress(email.slice(0, maxAddressLength + 1));
    const find = async () =>
      address.length <= maxAddressLength ? await findPerson(address) : undefined;
    let claimed = origin.kind === 'client' ? await find() : undefined;
    const from = origin.kind === 'client' ? await this.#originOf(origin, claimed) : origin;
    const person = await throttle.attempt(`password ${address}`, from, async () => {
      // A client's was looked up before, whether there is one or not.
      if (origin.kind !== 'client') claimed = await find();
      const matches = await passwords.check(claimed?.passwordHash, password, from);
      return matches && claimed?.disabled === false ? claimed : undefined;
    });
    if (person === undefined) return { person, claimed, needsProvider: false };
    if (await mustUseProvider(person)) return { person: undefined, claimed, needsProvider: true };
    const passwordHash = await this.#renewHash(person, password, from);
    const current = passwordHash === undefined ? undefined : { ...person, passwordHash };
    return { person: current, claimed, needsProvider: false };
  }

  /**
   * Any account can have clients. Its client may guess without being refused only for the account's own users; a password that
   * opens more is guarded as on the sign-in page (ASVS 4.0.3 2.2.1).
   */
  async #originOf(
    origin: PasswordOrigin & { readonly kind: 'client' },
    claimed: PersonWithPassword | undefined,
  ): Promise<GuessOrigin> {
    const isOwn = claimed && (await this.#dependencies.belongsOnlyTo(claimed, origin.accountId));
    return { ...origin, isForeign: isOwn !== true };
  }

  /**
   * Only now is the password known, so that a hash with less work than today's can be replaced.
   * @returns the hash that the person has now, which tokens are issued for; undefined if the password was changed meanwhile
   */
  async #renewHash(
    person: PersonWithPassword,
    password: string,
    origin: GuessOrigin,
  ): Promise<string | undefined> {
    const { findPerson, passwords, renewHash } = this.#dependencies;
    try {
      const renewed = await passwords.renew(person.passwordHash ?? '', password, person.id);
      if (renewed === undefined) return person.passwordHash;
      if (await renewHash(person, renewed)) return renewed;
      // Another sign-in renewed it, or the password was changed.
      const current = (await findPerson(person.email))?.passwordHash;
      return (await passwords.check(current, password, origin)) ? current : undefined;
    } catch (error) {
      // The next sign-in renews it.
      if (error instanceof TemporarilyUnavailable) return person.passwordHash;
      throw error;
    }
  }
}
