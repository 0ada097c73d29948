import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../database/sqlstate.ts';
import { OperatorError } from '../values/errors.ts';
import { syncFolder } from '../values/sync-folder.ts';
import { fingerprintOf, MasterKey } from './master-key.ts';

const keyBytes = 32;

/** Where keys come from: settings or files in the data folder. */
export interface KeySource {
  /** SIGNALPOST_KEY, base64. */
  readonly key: string | undefined;
  /** SIGNALPOST_KEY_PREVIOUS, base64: the previous key, or the one still in use until `rotate-master` switches. */
  readonly previousKey: string | undefined;
  readonly dataDir: string;
}

/** Key files in a data folder. */
function keyFiles(dataDir: string) {
  return {
    current: join(dataDir, 'signalpost.key'),
    /** Exists from the start of a rotation until the switch. */
    next: join(dataDir, 'signalpost.next.key'),
    /** Exists from the switch until the rotation is finished. */
    previous: join(dataDir, 'signalpost.previous.key'),
  };
}

/**
 * Loads the keys from the settings or the key files in the data folder; the first start creates one with mode 0600.
 * @throws OperatorError if a file can't be read or doesn't contain a key
 */
export async function loadMasterKey(source: KeySource): Promise<MasterKey> {
  const secrets = await readSecrets(source);
  const [first, ...more] = secrets;
  if (first !== undefined) return new MasterKey(first, ...more);
  const { current } = keyFiles(source.dataDir);
  return new MasterKey(parseSecret(await makeKeyFile(current), current));
}

/** All keys, oldest first. */
export async function readSecrets({ key, previousKey, dataDir }: KeySource): Promise<Buffer[]> {
  if (key !== undefined)
    return [previousKey, key]
      .filter((text) => text !== undefined)
      .map((text) => Buffer.from(text, 'base64'));
  const files = keyFiles(dataDir);
  // The next key is read first, because a concurrent switch may rename it to the current one.
  const next = await readKeyFile(files.next);
  const current = await readKeyFile(files.current);
  const previous = await readKeyFile(files.previous);
  return [previous, current, next].filter((secret) => secret !== undefined);
}

/** The key file's content for a key. */
export function keyFileText(secret: Buffer): string {
  return `${secret.toString('base64')}\n`;
}

/** Writes the key files of a restored data folder. @param previous the key of an unfinished rotation */
export async function writeKeyFiles(
  dataDir: string,
  current: Buffer,
  previous: Buffer | undefined,
): Promise<void> {
  const files = keyFiles(dataDir);
  const options = { mode: 0o600, flush: true };
  await writeFile(files.current, keyFileText(current), options);
  if (previous !== undefined) await writeFile(files.previous, keyFileText(previous), options);
}

/** Creates the next key for a rotation, unless it exists. */
export async function makeNextKey(dataDir: string): Promise<void> {
  const { next } = keyFiles(dataDir);
  parseSecret(await makeKeyFile(next), next);
}

/**
 * Makes the next key the current one and keeps the current one as previous. Safe to interrupt and repeat.
 * @param fingerprint of the current key according to the database; a different next key isn't touched
 */
export async function promoteNextKey(dataDir: string, fingerprint: string): Promise<void> {
  const files = keyFiles(dataDir);
  const next = await readKeyFile(files.next);
  if (next === undefined || fingerprintOf(next) !== fingerprint) return;
  const draft = await writeDraft(files.previous, await readFile(files.current, 'utf8'));
  await rename(draft, files.previous);
  await rename(files.next, files.current);
  await syncFolder(dataDir);
}

/** Removes the file of the previous key, if it exists. */
export async function removePreviousKey(dataDir: string): Promise<void> {
  await unlink(keyFiles(dataDir).previous).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

async function readKeyFile(file: string): Promise<Buffer | undefined> {
  try {
    return parseSecret(await readFile(file, 'utf8'), file);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new OperatorError(`Can’t read the key file ${file} (${codeOf(cause)}).`, { cause });
  }
}

/** @throws OperatorError if the file doesn't contain a key */
export function parseSecret(text: string, file: string): Buffer {
  const secret = Buffer.from(text.trim(), 'base64');
  if (secret.length === keyBytes) return secret;
  throw new OperatorError(
    `The key file ${file} doesn’t contain 32 bytes in base64. Restore it from your backup.`,
  );
}

/** Writes a temporary file and links it into place, so readers never see a partial key and concurrent creators agree. */
async function makeKeyFile(file: string): Promise<string> {
  let draft: string | undefined;
  try {
    // With an external database, nothing else creates the folder.
    await mkdir(dirname(file), { recursive: true, mode: 0o711 });
    const text = keyFileText(randomBytes(keyBytes));
    draft = await writeDraft(file, text);
    await link(draft, file);
    await syncFolder(dirname(file));
    return text;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return await readFile(file, 'utf8');
    throw new OperatorError(
      `Can’t write the key file ${file} (${codeOf(cause)}). Set DATA_DIR to a writable folder, or set SIGNALPOST_KEY.`,
      { cause },
    );
  } finally {
    if (draft !== undefined) await unlink(draft).catch(() => undefined);
  }
}

async function writeDraft(file: string, text: string): Promise<string> {
  const draft = `${file}.${randomUUID()}.new`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  return draft;
}
