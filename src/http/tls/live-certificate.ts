import { type StatsListener, unwatchFile, watchFile } from 'node:fs';
import type { Log } from '../../foundation/log.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';

export interface LiveCertificateOptions {
  readonly files: CertificateFiles;
  readonly log: Log;
  readonly checkIntervalMs?: number;
}

/** The two files are rarely replaced in the same moment; until both are, they don't match. */
const settleMs = 1_000;

/**
 * The certificate of the HTTP port, read again whenever its files change. A new one that can't be used is logged, and the
 * last usable one stays.
 */
export class LiveCertificate {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #checkIntervalMs: number;
  readonly #listeners: ((certificate: Certificate) => void)[] = [];
  #current: Certificate;
  #settling: NodeJS.Timeout | undefined;

  /** @throws OperatorError if the files can't be used */
  constructor({ files, log, checkIntervalMs = 5_000 }: LiveCertificateOptions) {
    this.#files = files;
    this.#log = log;
    this.#checkIntervalMs = checkIntervalMs;
    this.#current = readCertificate(files);
    this.#warnIfExpired();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Calls back with each new certificate. */
  onChange(listener: (certificate: Certificate) => void): void {
    this.#listeners.push(listener);
  }

  /** Starts to watch the files. */
  start(): void {
    // The paths are looked up each time, so that replaced files and symbolic links count: inotify follows neither.
    const options = { interval: this.#checkIntervalMs, persistent: false };
    for (const { path } of this.#paths) watchFile(path, options, this.#onFileChange);
  }

  /** Stops watching. */
  stop(): void {
    for (const { path } of this.#paths) unwatchFile(path, this.#onFileChange);
    clearTimeout(this.#settling);
  }

  get #paths() {
    return [this.#files.cert, this.#files.key];
  }

  readonly #onFileChange: StatsListener = () => {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#reload(), Math.min(settleMs, this.#checkIntervalMs));
    this.#settling.unref();
  };

  #reload(): void {
    try {
      const next = readCertificate(this.#files);
      if (next.cert === this.#current.cert && next.key === this.#current.key) return;
      this.#current = next;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn(
        { validUntil: this.#current.leaf.validToDate },
        `the new TLS certificate can’t be used, so the old one stays: ${reason}`,
      );
      return;
    }
    for (const listener of this.#listeners) listener(this.#current);
    this.#log.info(
      { validUntil: this.#current.leaf.validToDate },
      'uses the new TLS certificate for new connections',
    );
    this.#warnIfExpired();
  }

  #warnIfExpired(): void {
    const { path } = this.#files.cert;
    const { validToDate } = this.#current.leaf;
    if (validToDate.getTime() < Date.now())
      this.#log.warn(
        { validUntil: validToDate },
        `the TLS certificate in ${path} has expired; clients will refuse it`,
      );
  }
}
