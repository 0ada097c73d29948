import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { Secret } from 'otpauth';
import type { PersonId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import type { RecoveryCodeStore } from './second-factor-store.ts';

/** Codes generated at a time. */
const codesPerPerson = 10;
/** 80 random bits: sixteen letters and digits in base32. */
const codeBytes = 10;

export interface RecoveryCodesDependencies {
  readonly store: RecoveryCodeStore;
  readonly throttle: LoginThrottle;
  readonly key: MasterKey;
}

/**
 * Single-use codes that replace a lost second factor (ASVS 2.6.1). Stored as a hash under the installation's key and
 * bound to the person, so that the database alone is useless (ASVS 2.6.2).
 */
export class RecoveryCodes {
  readonly #dependencies: RecoveryCodesDependencies;
  readonly #keys: PurposeKeys;

  constructor(dependencies: RecoveryCodesDependencies) {
    this.#dependencies = dependencies;
    this.#keys = dependencies.key.keysFor('recovery codes');
  }

  /**
   * Generates new codes that replace all earlier ones; they can't be read later.
   * @returns the codes as shown to people; none if the person has no second factor
   */
  async renew(personId: PersonId): Promise<readonly string[]> {
    const codes = Array.from({ length: codesPerPerson }, generateCode);
    const hashes = codes.map((code) => hashCode(this.#keys.current, personId, code));
    return (await this.#dependencies.store.replace(personId, hashes)) ? codes : [];
  }

  /**
   * True for an unused code, which is consumed.
   * @throws SlowDown if guesses come too fast, counting those of the second factor too
   */
  async consume(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean> {
    const { throttle, store } = this.#dependencies;
    const { current, others } = this.#keys;
    const hashes = [current, ...others].map((key) => hashCode(key, personId, code));
    const isValid = await throttle.attemptCode(`code ${personId}`, origin, async () =>
      (await store.consume(personId, hashes)) ? true : undefined,
    );
    return isValid === true;
  }

  /** The number of codes left. */
  countRemaining(personId: PersonId): Promise<number> {
    return this.#dependencies.store.count(personId);
  }
}

/** Ignores spaces, hyphens and case. Codes contain no 0 and 1, so these are misread letters. */
function hashCode(key: KeyObject, personId: PersonId, code: string): Buffer {
  const normalized = code
    .toUpperCase()
    .replaceAll('0', 'O')
    .replaceAll('1', 'I')
    .replaceAll(/[^A-Z2-7]/g, '');
  return createHmac('sha256', key).update(`${personId}\0${normalized}`).digest();
}

function generateCode(): string {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(codeBytes)).buffer });
  return secret.base32.replace(/(.{4})(?=.)/g, '$1-');
}
