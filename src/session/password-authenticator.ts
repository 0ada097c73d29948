import type { PersonWithPassword } from '../account/person-store.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import type { PasswordChecker } from './password-checker.ts';

/** Longer than any address that mail can be sent to (RFC 5321 section 4.5.3.1.3). */
const maxAddressLength = 254;

export interface PasswordAuthenticatorDependencies {
  readonly findPerson: (email: string) => Promise<PersonWithPassword | undefined>;
  readonly passwords: PasswordChecker;
  readonly throttle: LoginThrottle;
}

/** What came of an address and a password. */
export interface PasswordAuthentication {
  /** The person who is proven, or undefined. */
  readonly person: PersonWithPassword | undefined;
  /** The person that the address names, proven or not; for the audit log only. */
  readonly claimed: PersonWithPassword | undefined;
}

/** Knows people by address and password, slowly for those who guess; unknown ones cost and answer the same. */
export class PasswordAuthenticator {
  readonly #dependencies: PasswordAuthenticatorDependencies;

  constructor(dependencies: PasswordAuthenticatorDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws SlowDown for guesses that come too fast, TemporarilyUnavailable where too many passwords wait */
  async authenticate(
    email: string,
    password: string,
    origin: GuessOrigin,
  ): Promise<PasswordAuthentication> {
    const { findPerson, passwords, throttle } = this.#dependencies;
    const address = email.slice(0, maxAddressLength + 1).toLowerCase();
    let claimed: PersonWithPassword | undefined;
    const person = await throttle.attempt(`password ${address}`, origin, async () => {
      claimed = address.length <= maxAddressLength ? await findPerson(address) : undefined;
      const matches = await passwords.check(claimed?.passwordHash, password);
      return matches && claimed?.disabled === false ? claimed : undefined;
    });
    return { person, claimed };
  }
}
