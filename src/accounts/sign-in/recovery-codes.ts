import { randomBytes } from 'node:crypto';
import { Secret } from 'otpauth';
import type { Kysely } from '../../base/database/open-database.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import type { PersonId } from '../../base/values/ids.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import { consumeRecoveryCode, replaceRecoveryCodes } from './second-factor-store.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';

/** Codes generated at a time. */
const codesPerPerson = 10;
/** 80 random bits: sixteen letters and digits in base32. */
const codeBytes = 10;

/**
 * Single-use codes that replace a lost second factor (ASVS 2.6.1). Stored as a hash under the installation's key and
 * bound to the person, so that the database alone is useless (ASVS 2.6.2).
 */
export class RecoveryCodes {
  readonly #kysely: Kysely;
  readonly #throttle: LoginThrottle;
  readonly #keys: PurposeKeys;

  constructor(
    { database, key }: Pick<SessionModuleDependencies, 'database' | 'key'>,
    throttle: LoginThrottle,
  ) {
    this.#kysely = database.kysely;
    this.#throttle = throttle;
    this.#keys = key.keysFor('recovery codes');
  }

  /**
   * Generates new codes that replace all earlier ones; they can't be read later.
   * @returns the codes as shown to people; none if the person has no second factor
   */
  async renew(personId: PersonId): Promise<readonly string[]> {
    const codes = Array.from({ length: codesPerPerson }, generateCode);
    const hashes = codes.map((code) => this.#keys.sign(hashedText(personId, code)));
    return (await replaceRecoveryCodes(this.#kysely, personId, hashes)) ? codes : [];
  }

  /**
   * True for an unused code, which is consumed.
   * @throws SlowDown if guesses come too fast, counting those of the second factor too
   */
  async consume(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean> {
    const hashes = this.#keys.signWithAll(hashedText(personId, code));
    const isValid = await this.#throttle.attemptCode(`code ${personId}`, origin, async () =>
      (await consumeRecoveryCode(this.#kysely, personId, hashes)) ? true : undefined,
    );
    return isValid === true;
  }
}

/** What is hashed of a code. Ignores spaces, hyphens and case. Codes contain no 0 and 1, so these are misread letters. */
function hashedText(personId: PersonId, code: string): string {
  const normalized = code
    .toUpperCase()
    .replaceAll('0', 'O')
    .replaceAll('1', 'I')
    .replaceAll(/[^A-Z2-7]/g, '');
  return `${personId}\0${normalized}`;
}

function generateCode(): string {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(codeBytes)).buffer });
  return secret.base32.replace(/(.{4})(?=.)/g, '$1-');
}
