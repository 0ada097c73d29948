import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../database/open-database.ts';
import { allRows } from '../database/statements.ts';
import type { MasterKey } from './master-key.ts';
import type { PurposeKeys } from './purpose-keys.ts';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a secret for the database (AES-256-GCM), bound to its row.
 * @param key 32 bytes from `MasterKey.derive`
 * @param place identifies the row; the secret can't be decrypted for any other
 */
export function seal(key: KeyObject, place: string, secret: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts the output of `seal` with any of the keys.
 * @throws Error if no key decrypts it
 */
export function unsealAny(keys: PurposeKeys, place: string, sealed: Buffer): Buffer {
  return openWithAny(keys, (key) => unseal(key, place, sealed));
}

/** Tries the keys in order. @throws the current key's Error if none works */
export function openWithAny<Value>(keys: PurposeKeys, open: (key: KeyObject) => Value): Value {
  try {
    return open(keys.current);
  } catch (error) {
    for (const key of keys.others) {
      try {
        return open(key);
      } catch {
        // Try the next key.
      }
    }
    throw error;
  }
}

/**
 * Decrypts the output of `seal`.
 * @throws Error if the key or row differs, or the data was modified
 */
function unseal(key: KeyObject, place: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes))
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}

/** A column of secrets encrypted under the master key. */
export interface SealedColumn {
  /** Purpose for `MasterKey.keysFor`. */
  readonly purpose: string;
  readonly table: string;
  /** The columns of the primary key. */
  readonly rowKey: readonly string[];
  readonly column: string;
  readonly seal: (key: KeyObject, row: readonly string[], secret: Buffer) => Buffer;
  /** @throws Error if the key is wrong */
  readonly unseal: (key: KeyObject, row: readonly string[], sealed: Buffer) => Buffer;
}

/** A column whose secrets are bound to their row by its key, with slashes between its parts. */
export function sealedColumn(
  column: Pick<SealedColumn, 'purpose' | 'table' | 'rowKey' | 'column'>,
): SealedColumn {
  return {
    ...column,
    seal: (key, row, secret) => seal(key, row.join('/'), secret),
    unseal: (key, row, sealed) => unseal(key, row.join('/'), sealed),
  };
}

const pageRows = 500;

/**
 * Re-encrypts a column with the current key, row by row and only if the row hasn't changed meanwhile, so it can be interrupted
 * and repeated at any time.
 * @returns the number of re-encrypted rows, and of rows no key can decrypt
 */
export async function resealColumn(
  { kysely }: Database,
  masterKey: MasterKey,
  column: SealedColumn,
): Promise<{ readonly renewed: number; readonly unreadable: number }> {
  const { current, others } = masterKey.keysFor(column.purpose);
  const [table, name] = [sql.table(column.table), sql.ref(column.column)];
  const rowKey = sql.join(column.rowKey.map((part) => sql.ref(part)));
  let renewed = 0;
  let unreadable = 0;
  let last: readonly string[] | undefined;
  for (;;) {
    const after = last === undefined ? sql`true` : sql`(${rowKey}) > (${sql.join([...last])})`;
    const rows = await allRows<{ row: string[]; sealed: Buffer }>(kysely)`
      select array[${sql.join(column.rowKey.map((part) => sql`${sql.ref(part)}::text`))}] as row, ${name} as sealed
      from ${table} where ${name} is not null and ${after} order by ${rowKey} limit ${pageRows}`;
    for (const { row, sealed } of rows) {
      if (open(column, current, row, sealed) !== undefined) continue;
      const secret = others.map((key) => open(column, key, row, sealed)).find(Boolean);
      if (secret === undefined) {
        unreadable += 1;
        continue;
      }
      const { numAffectedRows } = await sql`
        update ${table} set ${name} = ${column.seal(current, row, secret)}
        where (${rowKey}) = (${sql.join([...row])}) and ${name} = ${sealed}`.execute(kysely);
      renewed += Number(numAffectedRows ?? 0n);
    }
    if (rows.length < pageRows) return { renewed, unreadable };
    last = rows.at(-1)?.row;
  }
}

function open(
  column: SealedColumn,
  key: KeyObject,
  row: readonly string[],
  sealed: Buffer,
): Buffer | undefined {
  try {
    return column.unseal(key, row, sealed);
  } catch {
    return undefined;
  }
}
