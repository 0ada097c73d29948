import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { OperatorError } from '../foundation/errors.ts';
import type { BackupRepository, S3Settings } from './backup-repository.ts';

const requestTimeoutMs = 120_000;
const retries = 5;

/** @throws OperatorError without the settings of the S3 service */
export function openS3Repository(
  bucket: string,
  prefix: string,
  settings: S3Settings | undefined,
): BackupRepository {
  if (settings === undefined)
    throw new OperatorError(
      'A backup to s3:// needs BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY.',
    );
  return new S3Repository(bucket, prefix, settings);
}

/** Keeps backups in a bucket of any service with the S3 API. */
class S3Repository implements BackupRepository {
  readonly #client: AwsClient;
  readonly #base: string;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(bucket: string, prefix: string, settings: S3Settings) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    // With the bucket in the path, which every S3 service understands.
    this.#base = `${settings.endpoint}/${bucket}`;
    this.#client = new AwsClient({
      accessKeyId: settings.accessKey,
      secretAccessKey: settings.secretKey,
      service: 's3',
      region: settings.region,
      retries,
    });
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
    // A request that was interrupted has stored nothing.
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
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
