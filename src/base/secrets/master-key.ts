import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { PurposeKeys } from './purpose-keys.ts';

const keyBytes = 32;

/**
 * The secret of an installation, from which a key per purpose is derived (HKDF, RFC 5869). During a rotation there are several:
 * the database determines which one is current and which others are accepted (`select`).
 */
export class MasterKey {
  /** Oldest first. */
  #secrets: readonly Buffer[];
  #current: Buffer;
  #others: readonly Buffer[];
  readonly #purposes = new Map<string, PurposeKeys>();

  /** @param secrets oldest first; the newest is current unless `select` says otherwise */
  constructor(...secrets: readonly [Buffer, ...Buffer[]]) {
    this.#secrets = deduplicate(secrets);
    this.#current = this.#secrets.at(-1) ?? secrets[0];
    this.#others = this.#secrets.filter((secret) => secret !== this.#current);
  }

  /** The keys of a purpose, which follow a rotation of the master key. */
  keysFor(purpose: string): PurposeKeys {
    const known = this.#purposes.get(purpose);
    if (known !== undefined) return known;
    const keys = new PurposeKeys(
      derive(this.#current, purpose),
      this.#others.map((secret) => derive(secret, purpose)),
    );
    this.#purposes.set(purpose, keys);
    return keys;
  }

  /** Only the current key of a purpose, for output that is never verified later. */
  derive(purpose: string): KeyObject {
    return this.keysFor(purpose).current;
  }

  /** Identifies the current key without revealing it. Stored in the database to detect nodes with a different key. */
  get fingerprint(): string {
    return fingerprintOf(this.#current);
  }

  /** Fingerprints of all loaded keys, oldest first. */
  get fingerprints(): string[] {
    return this.#secrets.map(fingerprintOf);
  }

  /** Loads additional keys. @param secrets oldest first */
  addSecrets(secrets: readonly Buffer[]): void {
    const others = this.#secrets.filter((known) => !secrets.some((secret) => secret.equals(known)));
    this.#secrets = deduplicate([...others, ...secrets]);
  }

  /**
   * Makes the key with a fingerprint the current one. Also accepts newer keys, which other nodes may already use, and the previous
   * key until its rotation is finished.
   * @returns a fingerprint whose key isn't loaded; undefined on success
   */
  select(current: string, previous: string | null): string | undefined {
    const names = this.fingerprints;
    const place = names.indexOf(current);
    const chosen = this.#secrets[place];
    if (chosen === undefined) return current;
    if (previous !== null && !names.includes(previous)) return previous;
    const accepted = this.#secrets.filter(
      (secret, at) => secret !== chosen && (at > place || names[at] === previous),
    );
    if (!chosen.equals(this.#current) || !sameList(accepted, this.#others))
      this.#use(chosen, accepted);
    return undefined;
  }

  #use(current: Buffer, others: readonly Buffer[]): void {
    this.#current = current;
    this.#others = others;
    for (const [purpose, keys] of this.#purposes) {
      keys.replace(
        derive(current, purpose),
        others.map((secret) => derive(secret, purpose)),
      );
    }
  }
}

/** 32 bytes per purpose, as a key object, because `createHmac` is five times slower with raw bytes. */
function derive(secret: Buffer, purpose: string): KeyObject {
  return createSecretKey(
    Buffer.from(hkdfSync('sha256', secret, '', `signalpost ${purpose}`, keyBytes)),
  );
}

export function fingerprintOf(secret: Buffer): string {
  return derive(secret, 'fingerprint').export().toString('base64url').slice(0, 22);
}

function deduplicate(secrets: readonly Buffer[]): Buffer[] {
  return secrets.filter((secret, at) => secrets.findIndex((other) => other.equals(secret)) === at);
}

function sameList(left: readonly Buffer[], right: readonly Buffer[]): boolean {
  return left.length === right.length && left.every((secret, at) => right[at]?.equals(secret));
}
