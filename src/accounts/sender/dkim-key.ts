import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

/** RFC 8301 section 3.1 and RFC 8463 section 3; SHA-1 isn't supported. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A signing key. Holds the key object, because parsing PEM costs more than signing. */
export interface DkimKey {
  /** In A-labels; the `d=` tag. */
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly privateKey: KeyObject;
}

/** RFC 8301 section 3.2: signers should use at least 2048 bits. */
const rsaBits = 2_048;

const generate = promisify(generateKeyPair);

/** Generates a private key. RSA occupies a pool thread for about 100 ms. */
export async function generateDkimKey(algorithm: DkimAlgorithm): Promise<KeyObject> {
  const pair =
    algorithm === 'rsa-sha256'
      ? await generate('rsa', { modulusLength: rsaBits })
      : await generate('ed25519');
  return pair.privateKey;
}

/**
 * A signing key from PEM or a key object.
 * @throws Error if the key is neither Ed25519 nor RSA with at least 2048 bits
 */
export function readDkimKey(
  domain: string,
  selector: string,
  material: string | KeyObject,
): DkimKey {
  const privateKey = typeof material === 'string' ? createPrivateKey(material) : material;
  return { domain, selector, algorithm: algorithmOf(privateKey), privateKey };
}

function algorithmOf(key: KeyObject): DkimAlgorithm {
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519-sha256';
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType === 'rsa' && bits >= rsaBits) return 'rsa-sha256';
  throw new Error('a DKIM key must be RSA with at least 2048 bits, or Ed25519');
}

/**
 * The TXT record of a key: RFC 6376 section 3.6.1, or RFC 8463 section 4.2 for Ed25519, where `p` is the raw 32 bytes.
 */
export function dkimRecord(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey);
  if (privateKey.asymmetricKeyType === 'ed25519') {
    const { x = '' } = publicKey.export({ format: 'jwk' });
    return `v=DKIM1; k=ed25519; p=${Buffer.from(x, 'base64url').toString('base64')}`;
  }
  const der = publicKey.export({ format: 'der', type: 'spki' });
  return `v=DKIM1; k=rsa; p=${der.toString('base64')}`;
}
