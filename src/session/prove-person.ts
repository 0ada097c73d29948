import type { PersonWithPassword } from '../account/person-store.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import type { PasswordChecker } from './password-checker.ts';

/** Longer than any address that mail can be sent to (RFC 5321 section 4.5.3.1.3). */
const longestAddress = 254;

export interface PersonProverParts {
  readonly findPerson: (email: string) => Promise<PersonWithPassword | undefined>;
  readonly passwords: PasswordChecker;
  readonly throttle: LoginThrottle;
}

/** What came of an address and a password. */
export interface Proof {
  /** The person who is proven, or undefined. */
  readonly person: PersonWithPassword | undefined;
  /** The person that the address names, proven or not; for the audit log only. */
  readonly named: PersonWithPassword | undefined;
}

/** Knows people by address and password, slowly for those who guess; unknown ones cost and answer the same. */
export class PersonProver {
  readonly #parts: PersonProverParts;

  constructor(parts: PersonProverParts) {
    this.#parts = parts;
  }

  /** @throws SlowDown for guesses that come too fast, TemporarilyUnavailable where too many passwords wait */
  async prove(email: string, password: string, origin: GuessOrigin): Promise<Proof> {
    const { findPerson, passwords, throttle } = this.#parts;
    const address = email.slice(0, longestAddress + 1).toLowerCase();
    let named: PersonWithPassword | undefined;
    const person = await throttle.attempt(`password ${address}`, origin, async () => {
      named = address.length <= longestAddress ? await findPerson(address) : undefined;
      const matches = await passwords.check(named?.passwordHash, password);
      return matches && named?.disabled === false ? named : undefined;
    });
    return { person, named };
  }
}
