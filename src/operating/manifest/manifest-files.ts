import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';

/** Max bytes of a manifest. */
const maxManifestBytes = 4 * 1024 * 1024;

/** The text of a manifest and its origin. */
export interface ManifestText {
  readonly text: string;
  /** Its name in messages. */
  readonly name: string;
  /** Base folder of the files it names. */
  readonly folder: string;
}

/**
 * Reads a manifest; `-` means the input, with files relative to the current folder.
 * @throws OperatorError if it can't be read
 */
export async function readManifestText(
  file: string,
  input: AsyncIterable<Buffer>,
): Promise<ManifestText> {
  if (file === '-') {
    const text = await readStandardInput(input);
    if (typeof text === 'string') return { text, name: 'standard input', folder: process.cwd() };
    throw new OperatorError(`The manifest on standard input ${text.reason}.`);
  }
  return await readManifestFile(file);
}

/** @throws OperatorError if it can't be read */
export async function readManifestFile(file: string): Promise<ManifestText> {
  const text = await readTextFile(resolve(file), maxManifestBytes);
  if (typeof text === 'string') return { text, name: file, folder: dirname(resolve(file)) };
  throw new OperatorError(`The manifest ${file} ${text.reason}.`);
}

/** The files of a manifest; each is read only once. */
export class ManifestFiles {
  readonly #folder: string;
  readonly #bytes = new Map<string, Promise<Buffer | Unreadable>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The text of a file, or why it can't be used.
   * @param maxBytes max size of the file
   */
  async text(file: string, maxBytes: number): Promise<string | Unreadable> {
    const bytes = await this.bytes(file, maxBytes);
    return 'reason' in bytes ? bytes : decode(bytes);
  }

  /** As `text`, for a file that isn't text. */
  bytes(file: string, maxBytes: number): Promise<Buffer | Unreadable> {
    const path = resolve(this.#folder, file);
    const key = `${maxBytes}:${path}`;
    const reading = this.#bytes.get(key) ?? readFileBytes(path, maxBytes);
    this.#bytes.set(key, reading);
    return reading;
  }
}

/** Why a file can't be used, phrased to follow its name. */
interface Unreadable {
  readonly reason: string;
}

export async function readStandardInput(
  input: AsyncIterable<Buffer>,
  maxBytes = maxManifestBytes,
): Promise<string | Unreadable> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return tooLarge(maxBytes);
  }
  return decode(Buffer.concat(chunks));
}

async function readTextFile(path: string, maxBytes: number): Promise<string | Unreadable> {
  const bytes = await readFileBytes(path, maxBytes);
  return 'reason' in bytes ? bytes : decode(bytes);
}

async function readFileBytes(path: string, maxBytes: number): Promise<Buffer | Unreadable> {
  let handle: FileHandle | undefined;
  try {
    // A device or pipe might never end, and opening a pipe blocks until there is a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (!stats.isFile()) return { reason: 'is not a file' };
    if (stats.size > maxBytes) return tooLarge(maxBytes);
    return await handle.readFile();
  } catch (error) {
    return { reason: describeReadError(codeOf(error)) };
  } finally {
    await handle?.close();
  }
}

/** Decodes UTF-8 and strips the byte order mark that some editors add. */
function decode(bytes: Buffer): string | Unreadable {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { reason: 'is not UTF-8 text' };
  }
}

function tooLarge(maxBytes: number): Unreadable {
  return { reason: `is larger than ${maxBytes} bytes` };
}

function describeReadError(code: string | undefined): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'can’t be read by this user';
  return `can’t be read (${code ?? 'unknown reason'})`;
}
