import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Registry } from 'prom-client';
import { codeOf } from '../../../base/database/sqlstate.ts';
import { registerGauge } from '../../../base/telemetry/register-gauge.ts';
import { messageOf, OperatorError } from '../../../base/values/errors.ts';
import type { Log } from '../../../base/values/log.ts';

/** A file and the setting that names it. */
interface NamedFile {
  readonly setting: string;
  readonly path: string;
}

/** Where a certificate and its private key are, both in PEM. */
export interface CertificateFiles {
  /** The certificate, followed by the intermediate ones. */
  readonly cert: NamedFile;
  readonly key: NamedFile;
}

/** A certificate with its chain and private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** The certificate of the server itself. */
  readonly leaf: X509Certificate;
}

/**
 * Reads a certificate and its key, and checks that they belong together.
 * @throws OperatorError that names the file to replace
 */
export function readCertificate({ cert, key }: CertificateFiles): Certificate {
  const pair = { cert: readText(cert), key: readText(key) };
  const leaf = parseCertificate(pair.cert, cert);
  const privateKey = parseKey(pair.key, key);
  if (!leaf.checkPrivateKey(privateKey))
    throw new OperatorError(
      `${key.setting} names ${key.path}, which isn’t the key of the certificate in ${cert.path} (${cert.setting}); set both to files that were issued together.`,
    );
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new OperatorError(
      `${cert.setting} names ${cert.path}, which can’t be used for TLS (${messageOf(cause)}); use a certificate with its chain in PEM.`,
      { cause },
    );
  }
  return { ...pair, leaf };
}

function readText({ setting, path }: NamedFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${setting} names ${path}, which can’t be read (${codeOf(cause)}).`, {
      cause,
    });
  }
}

function parseCertificate(text: string, { setting, path }: NamedFile): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new OperatorError(
      `${setting} names ${path}, which isn’t a certificate in PEM; it must begin with -----BEGIN CERTIFICATE-----.`,
      { cause },
    );
  }
}

function parseKey(text: string, { setting, path }: NamedFile): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const advice =
      codeOf(cause) === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(text)
        ? 'has a passphrase; remove it with openssl pkey'
        : 'isn’t a private key in PEM';
    throw new OperatorError(`${setting} names ${path}, which ${advice}.`, { cause });
  }
}

interface LiveCertificateOptions {
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
      const reason = messageOf(error);
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

/** Registers when a certificate expires: that of the HTTP port, the submission ports or the bounce port. */
export function registerCertificateMetrics(
  registry: Registry,
  certificate: LiveCertificate,
  server: 'tls' | 'submission' | 'bounce' = 'tls',
): void {
  registerGauge(
    registry,
    `signalpost_${server}_certificate_expiry_timestamp_seconds`,
    () => certificate.current.leaf.validToDate.getTime() / 1_000,
  );
}
