import { verify, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type JsonFields, textOf } from './json-fields.ts';

const direction = '(?:central|north|south|(?:north|south)?(?:east|west))';
/** Names of buckets of S3 begin other hosts of Amazon, such as `sns.s3-us-west-2`: only regions count. */
const snsHost = new RegExp(
  `^sns\\.(?:(?!cn-)[a-z]{2}(?:-gov)?-${direction}-\\d{1,2}\\.amazonaws\\.com|cn-${direction}-\\d{1,2}\\.amazonaws\\.com\\.cn)$`,
);
const maxCertificates = 20;

/** Fetches a text by GET; throws where there is none. */
export type FetchText = (url: string) => Promise<string>;

/** True for an https address of Amazon SNS itself. */
export function isSnsAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return false;
  return url.username === '' && url.password === '' && snsHost.test(url.hostname);
}

/** As Amazon's own verifiers have it, the path must name a certificate; a query could have SNS answer something else. */
function isCertificateAddress(address: string): boolean {
  if (!isSnsAddress(address)) return false;
  const { pathname, search } = new URL(address);
  return /^\/[A-Za-z0-9_-]{1,100}\.pem$/.test(pathname) && search === '';
}

/** Verifies messages of Amazon SNS by the certificate that they name, which must be Amazon's own. */
export class SnsSignatures {
  readonly #fetch: FetchText;
  readonly #certificates = new LRUCache<string, X509Certificate>({ max: maxCertificates });

  constructor(fetch: FetchText) {
    this.#fetch = fetch;
  }

  /** True where the message was signed by SNS. @throws where the certificate cannot be fetched */
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

/** Names and values that are signed, in the order that SNS documents, each on a line of its own. */
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
