import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AwsClient } from 'aws4fetch';
import { codeOf } from '../../base/database/sqlstate.ts';
import { messageOf, OperatorError } from '../../base/values/errors.ts';
import { syncFolder } from '../../base/values/sync-folder.ts';
import type { BackupTarget, S3Settings } from './backup-target.ts';

/**
 * Keeps small files by name. Names are paths with `/`, of letters, digits, dots, dashes and underscores. Files are written
 * completely or not at all, and survive a crash once `put` has resolved.
 */
export interface BackupRepository {
  put(name: string, content: Uint8Array): Promise<void>;
  /** @returns undefined if there is no such file */
  get(name: string): Promise<Uint8Array | undefined>;
  /** The names that start with a prefix, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Does nothing if the file doesn't exist. */
  remove(name: string): Promise<void>;
  /** Removes leftovers of interrupted `put` calls. Call it only while nothing else is writing. */
  sweep(prefix: string): Promise<void>;
}

/**
 * Opens a target for backups.
 * @throws OperatorError if the target is a bucket and its settings are missing
 */
export async function openBackupRepository(
  target: BackupTarget,
  s3: S3Settings | undefined,
): Promise<BackupRepository> {
  if (target.kind === 'folder') return new FolderRepository(target.path);
  return openS3Repository(target.bucket, target.prefix, s3);
}

/** Suffix of files that are being written; a crash leaves them behind. */
const unfinishedSuffix = '.unfinished';

/** Keeps backups in a folder that only its owner can enter. */
export class FolderRepository implements BackupRepository {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async put(name: string, content: Uint8Array): Promise<void> {
    const file = join(this.#path, name);
    const unfinished = `${file}${unfinishedSuffix}`;
    try {
      await makeDurableFolder(dirname(file));
      await writeFile(unfinished, content, { mode: 0o600, flush: true });
      await rename(unfinished, file);
      await syncFolder(dirname(file));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw this.#problem(error);
    }
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(join(this.#path, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#problem(error);
    }
  }

  async list(prefix: string): Promise<string[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    try {
      const found = await readdir(join(this.#path, folder), {
        recursive: true,
        withFileTypes: true,
      });
      return found
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinishedSuffix))
        .map((entry) => join(entry.parentPath, entry.name).slice(this.#path.length + 1))
        .filter((name) => name.startsWith(prefix))
        .sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw this.#problem(error);
    }
  }

  async remove(name: string): Promise<void> {
    const file = join(this.#path, name);
    await rm(file, { force: true });
    await rm(`${file}${unfinishedSuffix}`, { force: true });
    // Only succeeds if the folder is empty.
    await rmdir(dirname(file)).catch(() => undefined);
  }

  async sweep(prefix: string): Promise<void> {
    const top = join(this.#path, prefix);
    const found = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const { name, parentPath } of found)
      if (name.endsWith(unfinishedSuffix)) await rm(join(parentPath, name), { force: true });
    // Only succeeds for empty ones.
    for (const entry of found)
      if (entry.isDirectory())
        await rmdir(join(entry.parentPath, entry.name)).catch(() => undefined);
  }

  #problem(error: unknown): unknown {
    const reason = codeOf(error);
    const advice =
      reason === 'ENOSPC' || reason === 'EDQUOT'
        ? 'its disk is full; free some space'
        : reason === 'EACCES' || reason === 'EPERM' || reason === 'EROFS'
          ? 'this user can’t write there; change the owner of the folder'
          : undefined;
    if (advice === undefined) return error;
    return new OperatorError(`The backup folder ${this.#path} can’t be used: ${advice}.`, {
      cause: error,
    });
  }
}

/** Creates a folder and its parents with mode 0700, and syncs them to survive a crash. */
async function makeDurableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (
    let folder = dirname(path);
    folder.length >= dirname(first).length;
    folder = dirname(folder)
  ) {
    await syncFolder(folder);
    if (folder === dirname(folder)) return;
  }
}

const requestTimeoutMs = 120_000;
const retries = 5;

/** @throws OperatorError if the S3 settings are missing */
async function openS3Repository(
  bucket: string,
  prefix: string,
  settings: S3Settings | undefined,
): Promise<BackupRepository> {
  if (settings === undefined)
    throw new OperatorError(
      'A backup to s3:// needs BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY.',
    );
  // Loaded on demand, because most installations don't use it.
  const { AwsClient } = await import('aws4fetch');
  const client = new AwsClient({
    accessKeyId: settings.accessKey,
    secretAccessKey: settings.secretKey,
    service: 's3',
    region: settings.region,
    retries,
  });
  return new S3Repository(client, settings.endpoint, bucket, prefix);
}

/** Keeps backups in a bucket of any service with the S3 API. */
class S3Repository implements BackupRepository {
  readonly #client: AwsClient;
  readonly #base: string;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(client: AwsClient, endpoint: string, bucket: string, prefix: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    // Path-style URLs work with every S3 service.
    this.#base = `${endpoint}/${bucket}`;
  }

  async put(name: string, content: Uint8Array): Promise<void> {
    await this.#request('PUT', this.#urlOf(name), content);
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const response = await this.#request('GET', this.#urlOf(name));
    return response && new Uint8Array(await response.arrayBuffer());
  }

  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    let next: string | undefined;
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix + prefix });
      if (next !== undefined) query.set('continuation-token', next);
      const response = await this.#request('GET', `${this.#base}?${query}`);
      const text = (await response?.text()) ?? '';
      for (const [, key = ''] of text.matchAll(/<Key>([^<]*)<\/Key>/g))
        names.push(key.slice(this.#prefix.length));
      next = /<NextContinuationToken>([^<]*)</.exec(text)?.[1]?.replaceAll('&amp;', '&');
    } while (next !== undefined);
    return names.sort();
  }

  async sweep(): Promise<void> {
    // An interrupted request stores nothing.
  }

  async remove(name: string): Promise<void> {
    await this.#request('DELETE', this.#urlOf(name));
  }

  #urlOf(name: string): string {
    return `${this.#base}/${this.#prefix}${name}`;
  }

  /** @returns undefined if the object doesn't exist */
  async #request(method: string, url: string, body?: Uint8Array): Promise<Response | undefined> {
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const response = await this.#client
      .fetch(url, {
        method,
        headers: { 'x-amz-content-sha256': digest },
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
      })
      .catch((cause: unknown) => {
        throw this.#problem(
          `can’t be reached (${reasonOf(cause)}). Check BACKUP_S3_ENDPOINT`,
          cause,
        );
      });
    if (response.ok) return response;
    const text = await response.text();
    const code = /<Code>([^<]*)</.exec(text)?.[1] ?? '';
    if (response.status === 404 && code !== 'NoSuchBucket') return undefined;
    throw this.#problem(
      `responds to ${method} with ${response.status} ${code}. Check BACKUP_S3_ENDPOINT, BACKUP_S3_REGION and the keys, and that the bucket exists`,
    );
  }

  #problem(what: string, cause?: unknown): OperatorError {
    return new OperatorError(`The bucket ${this.#bucket} ${what}.`, { cause });
  }
}

function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error ? (error.cause ?? error) : error);
}
