import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';

/** Bytes of a manifest. */
const maxManifestBytes = 4 * 1024 * 1024;

/** The text of a manifest and where it came from. */
export interface ManifestText {
  readonly text: string;
  /** How messages name it. */
  readonly name: string;
  /** Files that it names are found from here. */
  readonly folder: string;
}

/**
 * Reads a manifest, `-` for standard input: then files that it names are found from the current folder.
 * @throws OperatorError where it cannot be read
 */
export async function readManifestText(file: string): Promise<ManifestText> {
  if (file === '-') {
    const text = await readStandardInput();
    if (typeof text === 'string') return { text, name: 'standard input', folder: process.cwd() };
    throw new OperatorError(`The manifest on standard input ${text.reason}.`);
  }
  const text = await readTextFile(resolve(file), maxManifestBytes);
  if (typeof text === 'string') return { text, name: file, folder: dirname(resolve(file)) };
  throw new OperatorError(`The manifest ${file} ${text.reason}.`);
}

/** The files that one manifest names; each is read once. */
export class ManifestFiles {
  readonly #folder: string;
  readonly #read = new Map<string, Promise<string | Unreadable>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The text of a file, or why there is none.
   * @param maxBytes bytes that it may have
   */
  text(file: string, maxBytes: number): Promise<string | Unreadable> {
    const path = resolve(this.#folder, file);
    const key = `${maxBytes}:${path}`;
    const reading = this.#read.get(key) ?? readTextFile(path, maxBytes);
    this.#read.set(key, reading);
    return reading;
  }
}

/** Why a file has no text; goes on after its name. */
interface Unreadable {
  readonly reason: string;
}

async function readStandardInput(): Promise<string | Unreadable> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxManifestBytes) return tooLarge(maxManifestBytes);
  }
  return decode(Buffer.concat(chunks));
}

async function readTextFile(path: string, maxBytes: number): Promise<string | Unreadable> {
  let handle: FileHandle | undefined;
  try {
    // A device or a pipe might never end; opening a pipe would wait for somebody to write to it.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (!stats.isFile()) return { reason: 'is not a file' };
    if (stats.size > maxBytes) return tooLarge(maxBytes);
    return decode(await handle.readFile());
  } catch (error) {
    return { reason: describeReadError(codeOf(error)) };
  } finally {
    await handle?.close();
  }
}

/** The text without a byte order mark, with which some editors begin a file. */
function decode(bytes: Buffer): string | Unreadable {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { reason: 'is not UTF-8 text' };
  }
}

function tooLarge(maxBytes: number): Unreadable {
  return { reason: `has more than ${maxBytes} bytes` };
}

function describeReadError(code: string | undefined): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'must not be read by this user';
  return `cannot be read (${code ?? 'unknown reason'})`;
}
