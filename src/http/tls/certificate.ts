import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { codeOf } from '../../foundation/database/sqlstate.ts';
import { OperatorError } from '../../foundation/errors.ts';

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
      `${cert.setting} names ${cert.path}, which can’t be used for TLS (${reasonOf(cause)}); use a certificate with its chain in PEM.`,
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
