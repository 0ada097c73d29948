import { timingSafeEqual } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import type { PersonId } from '../../base/values/ids.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import {
  beginEnrollment,
  consumeTimeStep,
  findAuthenticator,
  hasAnySecondFactor,
} from './second-factor-store.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';

const secondFactorPurpose = 'second factor';

/** Re-encrypted when the master key is rotated. */
export const sealedSecondFactors = sealedColumn({
  purpose: secondFactorPurpose,
  table: 'second_factor',
  rowKey: ['person_id'],
  column: 'secret',
});

const stepMs = 30_000;

/** What an authenticator needs to generate codes. */
export interface Enrollment {
  /** Base32, for typing. */
  readonly secret: string;
  /** `otpauth:` URL, for scanning. */
  readonly uri: string;
}

/** Time-based one-time codes as a second factor (RFC 6238: SHA-1, six digits, 30 seconds, one step of tolerance). */
export class SecondFactors {
  readonly #dependencies: SessionModuleDependencies;
  readonly #throttle: LoginThrottle;
  readonly #keys: PurposeKeys;

  constructor(dependencies: SessionModuleDependencies, throttle: LoginThrottle) {
    this.#dependencies = dependencies;
    this.#throttle = throttle;
    this.#keys = dependencies.key.keysFor(secondFactorPurpose);
  }

  /** True if the person has any second factor: a confirmed authenticator app or a passkey. */
  has(personId: PersonId): Promise<boolean> {
    return hasAnySecondFactor(this.#kysely, personId);
  }

  /** True if the person has a confirmed authenticator app. */
  async hasAuthenticator(personId: PersonId): Promise<boolean> {
    return (await findAuthenticator(this.#kysely, personId))?.confirmed === true;
  }

  /**
   * Creates a secret, which takes effect once `verify` accepts a code; until then, it replaces any other pending one.
   */
  async enroll(personId: PersonId, email: string): Promise<Enrollment> {
    const secret = new Secret({ size: 20 });
    const sealed = seal(this.#keys.current, personId, Buffer.from(secret.bytes));
    await beginEnrollment(this.#kysely, personId, sealed);
    return enrollmentOf(secret, email);
  }

  /**
   * The pending enrollment again, for a browser that already has its secret, so that a wrong first code doesn't require
   * scanning another one.
   * @returns undefined if that isn't the pending secret
   */
  async resume(
    personId: PersonId,
    email: string,
    secretText: string,
  ): Promise<Enrollment | undefined> {
    const stored = await findAuthenticator(this.#kysely, personId);
    if (stored === undefined || stored.confirmed || !/^[A-Z2-7]{32}$/.test(secretText))
      return undefined;
    const secret = Secret.fromBase32(secretText);
    const pending = unsealAny(this.#keys, personId, stored.secret);
    const isSame = pending.length === secret.bytes.length && timingSafeEqual(pending, secret.bytes);
    return isSame ? enrollmentOf(secret, email) : undefined;
  }

  /**
   * True for a current, unused code; the first one confirms an enrollment.
   * @throws SlowDown if guesses come too fast
   */
  async verify(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean> {
    const isValid = await this.#throttle.attemptCode(`code ${personId}`, origin, async () =>
      (await this.#consumeCode(personId, code.replaceAll(' ', ''))) ? true : undefined,
    );
    return isValid === true;
  }

  async #consumeCode(personId: PersonId, code: string): Promise<boolean> {
    const stored = await findAuthenticator(this.#kysely, personId);
    if (stored === undefined || !/^\d{6}$/.test(code)) return false;
    const bytes = unsealAny(this.#keys, personId, stored.secret);
    const totp = new TOTP({ secret: new Secret({ buffer: new Uint8Array(bytes).buffer }) });
    const timestamp = this.#dependencies.clock.now();
    const delta = totp.validate({ token: code, timestamp, window: 1 });
    if (delta === null) return false;
    return consumeTimeStep(this.#kysely, personId, Math.floor(timestamp / stepMs) + delta);
  }

  get #kysely() {
    return this.#dependencies.database.kysely;
  }
}

function enrollmentOf(secret: Secret, email: string): Enrollment {
  const totp = new TOTP({ issuer: 'Signalpost', label: email, secret });
  return { secret: secret.base32, uri: totp.toString() };
}
