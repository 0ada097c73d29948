import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { Secret } from 'otpauth';
import type { PersonId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import type { RecoveryCodeStore } from './recovery-code-store.ts';

/** Codes that a person gets at a time. */
const codesAtOnce = 10;
/** 80 random bits: sixteen letters and digits in base32. */
const codeBytes = 10;

export interface RecoveryCodesParts {
  readonly store: RecoveryCodeStore;
  readonly throttle: LoginThrottle;
  readonly key: MasterKey;
}

/**
 * Codes that stand in for a second factor that was lost, each once (ASVS 2.6.1). Kept as a hash under the
 * installation's key and bound to the person, so that the database alone is worth nothing (ASVS 2.6.2).
 */
export class RecoveryCodes {
  readonly #parts: RecoveryCodesParts;
  readonly #keys: PurposeKeys;

  constructor(parts: RecoveryCodesParts) {
    this.#parts = parts;
    this.#keys = parts.key.keysFor('recovery codes');
  }

  /**
   * Makes new codes in the place of all earlier ones; nobody can read them later.
   * @returns them as people read them; none where the person has no second factor
   */
  async renew(personId: PersonId): Promise<readonly string[]> {
    const codes = Array.from({ length: codesAtOnce }, makeCode);
    const hashes = codes.map((code) => hashCode(this.#keys.current, personId, code));
    return (await this.#parts.store.replace(personId, hashes)) ? codes : [];
  }

  /**
   * True for a code that was not used before; it is spent.
   * @throws SlowDown for guesses that come too fast, those of the second factor included
   */
  async spend(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean> {
    const { throttle, store } = this.#parts;
    const { current, others } = this.#keys;
    const hashes = [current, ...others].map((key) => hashCode(key, personId, code));
    const right = await throttle.attemptCode(`code ${personId}`, origin, async () =>
      (await store.spend(personId, hashes)) ? true : undefined,
    );
    return right === true;
  }

  /** How many are left. */
  left(personId: PersonId): Promise<number> {
    return this.#parts.store.count(personId);
  }
}

/** However it was typed: spaces, hyphens and case say nothing. */
function hashCode(key: KeyObject, personId: PersonId, code: string): Buffer {
  const typed = code.toUpperCase().replaceAll(/[^A-Z2-7]/g, '');
  return createHmac('sha256', key).update(`${personId}\0${typed}`).digest();
}

function makeCode(): string {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(codeBytes)).buffer });
  return secret.base32.replace(/(.{4})(?=.)/g, '$1-');
}
