import { createSecretKey, hkdfSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from './database/sqlstate.ts';
import { OperatorError } from './errors.ts';

const keyBytes = 32;

/** The secret of an installation, from which a key for each purpose is derived (HKDF, RFC 5869). */
export class MasterKey {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /**
   * 32 bytes for one purpose; keys of different purposes say nothing about each other. As a key object, since `createHmac`
   * takes five times as long with bytes, of which it makes one each time.
   */
  derive(purpose: string): KeyObject {
    return createSecretKey(
      Buffer.from(hkdfSync('sha256', this.#secret, '', `signalpost ${purpose}`, keyBytes)),
    );
  }

  /** Names the key without revealing it; kept in the database, so that a node with another key is recognised. */
  get fingerprint(): string {
    return this.derive('fingerprint').export().toString('base64url').slice(0, 22);
  }
}

/**
 * The key of SIGNALPOST_KEY (base64), or of the key file in the data folder, which the first start makes with mode 0600.
 * @throws OperatorError where the file cannot be read or does not hold a key
 */
export async function loadMasterKey(key: string | undefined, dataDir: string): Promise<MasterKey> {
  if (key !== undefined) return new MasterKey(Buffer.from(key, 'base64'));
  const file = join(dataDir, 'signalpost.key');
  const text = (await readKeyFile(file)) ?? (await makeKeyFile(file));
  const secret = Buffer.from(text.trim(), 'base64');
  if (secret.length !== keyBytes) {
    throw new OperatorError(
      `The key file ${file} does not hold 32 bytes in base64; restore it from your backup.`,
    );
  }
  return new MasterKey(secret);
}

async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new OperatorError(`The key file ${file} cannot be read (${codeOf(cause)}).`, { cause });
  }
}

/** Written whole under another name and linked into place, so that no reader ever sees half a key and two makers agree. */
async function makeKeyFile(file: string): Promise<string> {
  const text = `${randomBytes(keyBytes).toString('base64')}\n`;
  const draft = `${file}.${randomUUID()}.new`;
  try {
    // With a database of one's own nothing else needs the folder to be there.
    await mkdir(dirname(file), { recursive: true, mode: 0o711 });
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await link(draft, file);
    return text;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return await readFile(file, 'utf8');
    throw new OperatorError(
      `The key file ${file} cannot be written (${codeOf(cause)}); set DATA_DIR to a folder that can, or SIGNALPOST_KEY.`,
      { cause },
    );
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}
