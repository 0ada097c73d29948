import { createHmac, hash, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';

/** What a token is good for; each kind has its own prefix, so that one is never taken for another. */
export type TokenKind = 'access' | 'refresh' | 'code' | 'link';

export interface Token {
  /** What the client gets; never stored. */
  readonly text: string;
  /** What the database keeps. */
  readonly hash: Buffer;
}

const prefixes: Readonly<Record<TokenKind, string>> = {
  access: 'spa_',
  refresh: 'spr_',
  code: 'spc_',
  link: 'spl_',
};

const randomLength = 32;
const checksumLength = 12;
const textLength = 4 + 43 + 16;
const tokenPattern = /^sp[arcl]_[A-Za-z0-9_-]{59}$/;

/**
 * Makes and recognises tokens: a prefix, 256 random bits and 96 bits of keyed checksum, all in base64url.
 * The checksum lets forged tokens be refused without asking the database; what proves a token is its hash in there.
 */
export class TokenMint {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('token checksum');
  }

  /** A new token that nobody has seen. */
  mint(kind: TokenKind): Token {
    const text = this.wrap(kind, randomBytes(randomLength).toString('base64url'));
    return { text, hash: hashToken(text) };
  }

  /** The token of this kind around 256 bits in base64url that nobody can guess. */
  wrap(kind: TokenKind, secret: string): string {
    const body = prefixes[kind] + secret;
    return body + checksum(this.#keys.current, body).toString('base64url');
  }

  /** True where `text` was made under this installation's key as a token of this kind. */
  recognizes(kind: TokenKind, text: string): boolean {
    if (text.length !== textLength || !text.startsWith(prefixes[kind]) || !tokenPattern.test(text))
      return false;
    const body = text.slice(0, -16);
    const given = Buffer.from(text.slice(-16), 'base64url');
    return this.#keys.some((key) => timingSafeEqual(checksum(key, body), given));
  }
}

function checksum(key: KeyObject, body: string): Buffer {
  return createHmac('sha256', key).update(body).digest().subarray(0, checksumLength);
}

/** SHA-256 in base64: the name of a token in memory. */
export function hashText(text: string): string {
  return hash('sha256', text, 'base64');
}

/** What the database keeps of a token: SHA-256; the token itself has 256 random bits, so nothing slower is needed. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
