/** Access to an S3 service; the target names the bucket. */
export interface S3Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

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
  /** Removes what interrupted calls of `put` have left. Only while nothing else is writing there. */
  sweep(prefix: string): Promise<void>;
}
