import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { PurposeKeys } from './purpose-keys.ts';

const keyBytes = 32;

/**
 * The secret of an installation, from which a key for each purpose is derived (HKDF, RFC 5869). While it is rotated there are
 * several: the database says which one makes new things and which ones are accepted besides (`select`).
 */
export class MasterKey {
  /** From the oldest to the newest. */
  #secrets: readonly Buffer[];
  #current: Buffer;
  #others: readonly Buffer[];
  readonly #purposes = new Map<string, PurposeKeys>();

  /** @param secrets from the oldest to the newest; the newest makes new things unless `select` says otherwise */
  constructor(...secrets: readonly [Buffer, ...Buffer[]]) {
    this.#secrets = deduplicate(secrets);
    this.#current = this.#secrets.at(-1) ?? secrets[0];
    this.#others = this.#secrets.filter((secret) => secret !== this.#current);
  }

  /** The keys of a purpose, which stay right while the master key is rotated. */
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

  /** The current key of a purpose alone: only for what nobody verifies later. */
  derive(purpose: string): KeyObject {
    return this.keysFor(purpose).current;
  }

  /** Names the current key without revealing it; kept in the database, so that a node with another key is recognised. */
  get fingerprint(): string {
    return fingerprintOf(this.#current);
  }

  /** Of every key that is known, from the oldest to the newest. */
  get fingerprints(): string[] {
    return this.#secrets.map(fingerprintOf);
  }

  /** Adds keys to those that are known. @param secrets from the oldest to the newest */
  addSecrets(secrets: readonly Buffer[]): void {
    const others = this.#secrets.filter((known) => !secrets.some((secret) => secret.equals(known)));
    this.#secrets = deduplicate([...others, ...secrets]);
  }

  /**
   * Makes new things with the key of a fingerprint from here on. Accepted besides are newer ones, which other nodes may make
   * things with already, and the one before until its rotation is finished.
   * @returns the fingerprint that is not known here; undefined where all is well
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

/** 32 bytes for one purpose. As a key object, since `createHmac` takes five times as long with bytes. */
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
