import { hash, randomBytes } from 'node:crypto';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';

/** The purpose of a token. Each kind has its own prefix, so that one can't be used as another. */
export type TokenKind = 'access' | 'refresh' | 'code' | 'link';

export interface Token {
  /** Sent to the client; never stored. */
  readonly text: string;
  /** Stored in the database. */
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
 * Creates and recognizes tokens: a prefix, 256 random bits and a 96-bit keyed checksum, all in base64url. The
 * checksum rejects forged tokens without a query; a token is valid only if its hash is in the database.
 */
export class TokenMint {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('token checksum');
  }

  /** Creates a new random token. */
  mint(kind: TokenKind): Token {
    const text = this.wrap(kind, randomBytes(randomLength).toString('base64url'));
    return { text, hash: hashToken(text) };
  }

  /** Builds the token of this kind from 256 secret bits in base64url. */
  wrap(kind: TokenKind, secret: string): string {
    const body = prefixes[kind] + secret;
    return body + this.#keys.sign(body).toString('base64url', 0, checksumLength);
  }

  /** True if `text` is a token of this kind created with this installation's key. */
  recognizes(kind: TokenKind, text: string): boolean {
    if (text.length !== textLength || !text.startsWith(prefixes[kind]) || !tokenPattern.test(text))
      return false;
    const body = text.slice(0, -16);
    const given = Buffer.from(text.slice(-16), 'base64url');
    return this.#keys.verify(body, given, checksumLength);
  }
}

/** SHA-256 in base64: identifies a token in memory. */
export function hashText(text: string): string {
  return hash('sha256', text, 'base64');
}

/** SHA-256, as stored in the database; the token has 256 random bits, so nothing slower is needed. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
