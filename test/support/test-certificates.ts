import { generateKeyPairSync, type KeyObject, randomInt, sign } from 'node:crypto';

export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

/** One DER value (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const integer = (value: number): Buffer => {
  const hex = value.toString(16);
  // A leading 0 keeps the value positive; it is allowed only if needed for that.
  const padded = hex.length % 2 === 1 ? `0${hex}` : /^[89a-f]/.test(hex) ? `00${hex}` : hex;
  return der(0x02, Buffer.from(padded, 'hex'));
};
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (date: Date): Buffer =>
  der(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')));
const distinguishedName = (name: string): Buffer =>
  sequence(der(0x31, sequence(identifier('550403'), der(0x0c, Buffer.from(name)))));
const extension = (hex: string, value: Buffer): Buffer =>
  sequence(identifier(hex), der(0x04, value));

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const basicConstraints = '551d13';
const subjectAltName = '551d11';
const dnsName = 0x82;

interface Request {
  readonly subject: string;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly publicKey: KeyObject;
  readonly from: Date;
  readonly until: Date;
  readonly extension: Buffer;
}

function certify(request: Request): string {
  const content = sequence(
    der(0xa0, integer(2)),
    integer(randomInt(2 ** 32)),
    ecdsaWithSha256,
    distinguishedName(request.issuer),
    sequence(time(request.from), time(request.until)),
    distinguishedName(request.subject),
    request.publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(request.extension)),
  );
  const signature = sign('sha256', content, request.signer);
  const whole = sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function makeKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

const day = 86_400_000;

/** A certificate authority for tests. */
export class TestAuthority {
  readonly #keys = makeKeys();
  /** Its own certificate, in PEM. */
  readonly ca: string;

  constructor() {
    this.ca = certify({
      subject: 'Test CA',
      issuer: 'Test CA',
      signer: this.#keys.privateKey,
      publicKey: this.#keys.publicKey,
      from: new Date(Date.now() - 10 * day),
      until: new Date(Date.now() + 10 * day),
      extension: extension(basicConstraints, sequence(der(0x01, Buffer.from([0xff])))),
    });
  }

  /** A certificate for host names that expires in `days`, or is already expired if `days` is negative. */
  issue(names: readonly string[], days = 2): TestCertificate {
    const keys = makeKeys();
    const cert = certify({
      subject: names[0] ?? '',
      issuer: 'Test CA',
      signer: this.#keys.privateKey,
      publicKey: keys.publicKey,
      from: new Date(Date.now() - 9 * day),
      until: new Date(Date.now() + days * day),
      extension: extension(
        subjectAltName,
        sequence(...names.map((name) => der(dnsName, Buffer.from(name)))),
      ),
    });
    return { key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), cert };
  }
}
