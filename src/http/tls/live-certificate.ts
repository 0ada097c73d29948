import { readFileSync } from 'node:fs';
import type { Log } from '../../foundation/log.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';

export interface LiveCertificateOptions {
  readonly files: CertificateFiles;
  readonly log: Log;
  readonly checkIntervalMs?: number;
}

/**
 * The certificate of a server, read again whenever its files change. A new one that can't be used is logged, and the
 * last usable one stays.
 */
export class LiveCertificate {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #checkIntervalMs: number;
  readonly #listeners: ((certificate: Certificate) => void)[] = [];
  #current: Certificate;
  /** The contents that are in use, or were found unusable. */
  #handled: string;
  /** The contents at the last check. */
  #seen: string;
  #timer: NodeJS.Timeout | undefined;

  /** @throws OperatorError if the files can't be used */
  constructor({ files, log, checkIntervalMs = 5_000 }: LiveCertificateOptions) {
    this.#files = files;
    this.#log = log;
    this.#checkIntervalMs = checkIntervalMs;
    this.#current = readCertificate(files);
    this.#handled = this.#current.cert + this.#current.key;
    this.#seen = this.#handled;
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
    this.#timer = setInterval(() => this.#check(), this.#checkIntervalMs);
    this.#timer.unref();
  }

  /** Stops watching. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Compares contents, because events and times of files miss replaced symbolic links or come before the watch begins. A
   * change counts once it lasts, because the two files are rarely replaced in the same moment.
   */
  #check(): void {
    const { cert, key } = this.#files;
    const found = contentOf(cert.path) + contentOf(key.path);
    const lasts = found === this.#seen;
    this.#seen = found;
    if (!lasts || found === this.#handled) return;
    this.#handled = found;
    this.#reload();
  }

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

/** Empty if the file can't be read; reading the certificate says why. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
