import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from './database/sqlstate.ts';
import { OperatorError } from './errors.ts';
import { fingerprintOf, MasterKey } from './master-key.ts';

const keyBytes = 32;

/** Where keys come from: the settings, or files in the data folder. */
export interface KeySource {
  /** SIGNALPOST_KEY, base64. */
  readonly key: string | undefined;
  /** SIGNALPOST_KEY_PREVIOUS, base64: the key before, or the key still in use until `rotate-master` has switched. */
  readonly previousKey: string | undefined;
  readonly dataDir: string;
}

/** The files of a data folder's keys. */
function keyFiles(dataDir: string) {
  return {
    current: join(dataDir, 'signalpost.key'),
    /** Made by a rotation, until it has switched. */
    next: join(dataDir, 'signalpost.next.key'),
    /** Kept by a rotation, until it is finished. */
    previous: join(dataDir, 'signalpost.previous.key'),
  };
}

/**
 * The keys of the settings, or of the key files in the data folder, of which the first start makes one with mode 0600.
 * @throws OperatorError where a file cannot be read or does not hold a key
 */
export async function loadMasterKey(source: KeySource): Promise<MasterKey> {
  const secrets = await readSecrets(source);
  const [first, ...more] = secrets;
  if (first !== undefined) return new MasterKey(first, ...more);
  const { current } = keyFiles(source.dataDir);
  return new MasterKey(parseSecret(await makeKeyFile(current), current));
}

/** Every key that there is, from the oldest to the newest. */
export async function readSecrets({ key, previousKey, dataDir }: KeySource): Promise<Buffer[]> {
  if (key !== undefined)
    return [previousKey, key]
      .filter((text) => text !== undefined)
      .map((text) => Buffer.from(text, 'base64'));
  const files = keyFiles(dataDir);
  // The next one is read first: it is renamed to the current one.
  const next = await readKeyFile(files.next);
  const current = await readKeyFile(files.current);
  const previous = await readKeyFile(files.previous);
  return [previous, current, next].filter((secret) => secret !== undefined);
}

/** Makes the key of a rotation, unless it was made before. */
export async function makeNextKey(dataDir: string): Promise<void> {
  const { next } = keyFiles(dataDir);
  parseSecret(await makeKeyFile(next), next);
}

/**
 * Puts the next key in the place of the current one, which is kept as the previous one. Safe to be killed and repeated.
 * @param fingerprint of the key that the database goes by; another one is left alone
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

/** Removes the previous key's file, where there is one. */
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
    throw new OperatorError(`The key file ${file} cannot be read (${codeOf(cause)}).`, { cause });
  }
}

function parseSecret(text: string, file: string): Buffer {
  const secret = Buffer.from(text.trim(), 'base64');
  if (secret.length === keyBytes) return secret;
  throw new OperatorError(
    `The key file ${file} does not hold 32 bytes in base64; restore it from your backup.`,
  );
}

/** Written whole under another name and linked into place, so that no reader ever sees half a key and two makers agree. */
async function makeKeyFile(file: string): Promise<string> {
  let draft: string | undefined;
  try {
    // With a database of one's own nothing else needs the folder to be there.
    await mkdir(dirname(file), { recursive: true, mode: 0o711 });
    const text = `${randomBytes(keyBytes).toString('base64')}\n`;
    draft = await writeDraft(file, text);
    await link(draft, file);
    await syncFolder(dirname(file));
    return text;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return await readFile(file, 'utf8');
    throw new OperatorError(
      `The key file ${file} cannot be written (${codeOf(cause)}); set DATA_DIR to a folder that can, or SIGNALPOST_KEY.`,
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

/** A name in a folder is on the disk once the folder is. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
