import { verify, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type JsonFields, textOf } from './json-fields.ts';

const direction = '(?:central|north|south|(?:north|south)?(?:east|west))';
/** S3 bucket names can start other Amazon hosts, such as `sns.s3-us-west-2`, so only regions match. */
const snsHost = new RegExp(
  `^sns\\.(?:(?!cn-)[a-z]{2}(?:-gov)?-${direction}-\\d{1,2}\\.amazonaws\\.com|cn-${direction}-\\d{1,2}\\.amazonaws\\.com\\.cn)$`,
);
const maxCertificates = 20;

/** GETs a text; throws on failure. */
export type FetchText = (url: string) => Promise<string>;

/** True for an https URL of Amazon SNS itself. */
export function isSnsAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return false;
  return url.username === '' && url.password === '' && snsHost.test(url.hostname);
}

/**
 * Like Amazon's own verifiers, requires the path to name a certificate; a query could make SNS return something else.
 */
function isCertificateAddress(address: string): boolean {
  if (!isSnsAddress(address)) return false;
  const { pathname, search } = new URL(address);
  return /^\/[A-Za-z0-9_-]{1,100}\.pem$/.test(pathname) && search === '';
}

/** Verifies Amazon SNS messages against the certificate they name, which must be Amazon's. */
export class SnsSignatures {
  readonly #fetch: FetchText;
  readonly #certificates = new LRUCache<string, X509Certificate>({ max: maxCertificates });

  constructor(fetch: FetchText) {
    this.#fetch = fetch;
  }

  /**
   * True if SNS signed the message.
   * @throws if the certificate can't be fetched
   */
  async isSigned(message: JsonFields): Promise<boolean> {
    const address = textOf(message.SigningCertURL);
    if (!isCertificateAddress(address)) return false;
    const algorithm = message.SignatureVersion === '2' ? 'sha256' : 'sha1';
    const certificate = await this.#certificate(address);
    const signature = Buffer.from(textOf(message.Signature), 'base64');
    return verify(algorithm, Buffer.from(signedText(message)), certificate.publicKey, signature);
  }

  async #certificate(address: string): Promise<X509Certificate> {
    const cached = this.#certificates.get(address);
    if (cached !== undefined) return cached;
    const certificate = new X509Certificate(await this.#fetch(address));
    this.#certificates.set(address, certificate);
    return certificate;
  }
}

/** The signed names and values, one per line in the order documented by SNS. */
function signedText(message: JsonFields): string {
  const names =
    message.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  return names
    .filter((name) => message[name] !== undefined && message[name] !== null)
    .map((name) => `${name}\n${textOf(message[name])}\n`)
    .join('');
}
