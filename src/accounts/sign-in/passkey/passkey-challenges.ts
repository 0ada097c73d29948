import { randomBytes } from 'node:crypto';
import type { MasterKey } from '../../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../../base/secrets/purpose-keys.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { PersonId } from '../../../base/values/ids.ts';

/** Lifetime of a challenge (WebAuthn Level 2, section 15: at most ten minutes). */
export const challengeMs = 10 * 60_000;

const randomLength = 16;
const timeLength = 6;
const macLength = 32;
const challengeLength = randomLength + timeLength + macLength;

/** What a challenge is for. One purpose's challenge is useless for another. */
export interface ChallengeScope {
  readonly purpose: 'sign-in' | 'second-factor' | 'confirm' | 'register';
  /** The visitor's `csrf` token: binds the challenge to the browser and its session. */
  readonly csrf: string;
  /** The person it is for; undefined if the passkey says who signs in. */
  readonly personId?: PersonId | undefined;
}

/** A live challenge, and when it expires. */
export interface LiveChallenge {
  readonly bytes: Buffer;
  readonly expiresAt: Date;
}

/**
 * Challenges of passkey ceremonies: random, bound to a browser and purpose, and recognized by a keyed checksum, so that
 * a flood of strangers stores nothing. A successful ceremony stores its challenge, so each works once.
 */
export class PasskeyChallenges {
  readonly #keys: PurposeKeys;
  readonly #clock: Clock;

  constructor(key: MasterKey, clock: Clock) {
    this.#keys = key.keysFor('passkey challenge');
    this.#clock = clock;
  }

  /** A new challenge in base64url. */
  create(scope: ChallengeScope): string {
    const body = Buffer.alloc(randomLength + timeLength);
    randomBytes(randomLength).copy(body);
    body.writeUIntBE(Math.floor(this.#clock.now()), randomLength, timeLength);
    const checksum = this.#keys.sign(signedContent(body, scope));
    return Buffer.concat([body, checksum]).toString('base64url');
  }

  /** @returns undefined if the challenge was not issued for this scope or has expired */
  read(text: string, scope: ChallengeScope): LiveChallenge | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length !== challengeLength || bytes.toString('base64url') !== text) return undefined;
    const body = bytes.subarray(0, -macLength);
    const given = bytes.subarray(-macLength);
    if (!this.#keys.verify(signedContent(body, scope), given)) return undefined;
    const expiresAt = body.readUIntBE(randomLength, timeLength) + challengeMs;
    return expiresAt > this.#clock.now() ? { bytes, expiresAt: new Date(expiresAt) } : undefined;
  }
}

function signedContent(body: Buffer, { purpose, csrf, personId }: ChallengeScope): Buffer {
  return Buffer.concat([Buffer.from(`${purpose}\0${csrf}\0${personId ?? ''}\0`), body]);
}
