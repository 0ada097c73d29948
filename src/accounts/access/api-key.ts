import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { type AccountId, parseAccountId } from '../../base/values/ids.ts';
import type { KeyMode } from './principal.ts';
import { hashToken } from './token-mint.ts';

/** An account ID may contain underscores; what follows it has a fixed length. */
const keyPattern = /^sp_([A-Za-z0-9_-]{1,64})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;
/** Keys created before 0.2.0, without a checksum. */
const legacyKeyPattern = /^spk\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 43;
/** How the random part of test keys begins, so that people recognize them. */
const testPrefix = 'test';
const checksumLength = 6;
/** Characters of a key shown after creation, so that people can tell which one a program uses. */
const hintLength = 4;
/** As long as those of Amazon. */
const secretLength = 40;

/** A newly created API key. */
export interface GeneratedApiKey {
  /** Shown once, never stored. */
  readonly text: string;
  readonly hash: Buffer;
  /** The last characters before the checksum. */
  readonly hint: string;
}

/** The contents of a key's text. */
export interface ParsedApiKey {
  readonly accountId: AccountId;
  readonly hash: Buffer;
  /** Other hashes that may be stored while the master key is being rotated. */
  readonly olderHashes: readonly Buffer[];
}

/** True for text that can only be an API key: access tokens begin with `spa_`. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith('sp_') || text.startsWith('spk.');
}

/** The account that a text names if it is an API key; empty if it can't be one. Says nothing about whether the key works. */
export function accountTextOf(key: string): string {
  return keyPattern.exec(key)?.[1] ?? legacyKeyPattern.exec(key)?.[1] ?? '';
}

/**
 * Parses and hashes API keys of the form `sp_ACCOUNT_RANDOM_CHECKSUM`, where RANDOM has 256 bits in base 62 and
 * CHECKSUM is the CRC-32 of everything before it, so that secret scanners recognize a leaked key offline. Only hashes
 * are stored.
 */
export class ApiKeyParser {
  readonly #legacyKeys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#legacyKeys = key.keysFor('api key');
  }

  /** Account and hash of a possible key; undefined if it can't be one. */
  parse(text: string): ParsedApiKey | undefined {
    const [, account = '', , checksum] = keyPattern.exec(text) ?? [];
    if (checksum !== undefined) {
      if (checksumOf(text.slice(0, -checksumLength - 1)) !== checksum) return undefined;
      const accountId = parseAccountId(account);
      return accountId && { accountId, hash: hashToken(text), olderHashes: [] };
    }
    const accountId = parseAccountId(legacyKeyPattern.exec(text)?.[1] ?? '');
    const [hash, ...olderHashes] = this.#legacyKeys.signWithAll(text);
    return accountId && { accountId, hash, olderHashes };
  }
}

export function generateApiKey(accountId: AccountId, mode: KeyMode = 'live'): GeneratedApiKey {
  const prefix = mode === 'test' ? testPrefix : '';
  const body = `sp_${accountId}_${prefix}${randomText(randomLength - prefix.length)}`;
  return toGeneratedApiKey(`${body}_${checksumOf(body)}`);
}

/** A secret with 238 bits to sign requests with. */
export function generateSigningSecret(): string {
  return randomText(secretLength);
}

/** The stored form of a key in the current format. */
export function toGeneratedApiKey(text: string): GeneratedApiKey {
  const end = text.length - checksumLength - 1;
  return { text, hash: hashToken(text), hint: text.slice(end - hintLength, end) };
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is four times the alphabet: accepting higher bytes would make some characters more likely.
      if (byte < 248 && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = alphabet[rest % alphabet.length] + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
