import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** How a response differs from that of an honest browser and authenticator. */
export interface PasskeyDeviations {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** False: the authenticator did not check a PIN, fingerprint or face. */
  readonly verifiesUser?: boolean;
  /** Default: 0, as passkeys that are synced between devices have no count. */
  readonly signCount?: number;
  readonly type?: string;
  readonly userHandle?: string;
  /** Signs with another key. */
  readonly forged?: boolean;
}

interface RegistrationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** An authenticator in software: one ES256 key (WebAuthn Level 2, attestation `none`), and the browser in front of it. */
export class SoftwarePasskey {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly id = randomBytes(32);
  #userHandle = '';

  /** @param origin where the browser shows the page */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Creates the key and responds to a registration. */
  register(options: RegistrationOptions, deviations: PasskeyDeviations = {}): string {
    this.#userHandle = options.user.id;
    const clientData = this.#clientData('webauthn.create', options.challenge, deviations);
    const authData = Buffer.concat([
      this.#authenticatorData(deviations.rpId ?? options.rp.id, 0x40, deviations),
      Buffer.alloc(16),
      Buffer.from([0, this.id.length]),
      this.id,
      this.#coseKey(),
    ]);
    // {"fmt": "none", "attStmt": {}, "authData": …} in CBOR.
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
      authData,
    ]);
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Responds to a request to sign in. */
  assert(options: RequestOptions, deviations: PasskeyDeviations = {}): string {
    const clientData = this.#clientData('webauthn.get', options.challenge, deviations);
    const authData = this.#authenticatorData(deviations.rpId ?? options.rpId, 0, deviations);
    const key = deviations.forged
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : this.#keys.privateKey;
    const signature = createSign('sha256').update(authData).update(sha256(clientData)).sign(key);
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: deviations.userHandle ?? this.#userHandle,
    });
  }

  #answer(response: object): string {
    const id = this.id.toString('base64url');
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      response,
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
    });
  }

  #clientData(type: string, challenge: string, deviations: PasskeyDeviations): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: deviations.type ?? type,
        challenge: deviations.challenge ?? challenge,
        origin: deviations.origin ?? this.#origin,
        crossOrigin: false,
      }),
    );
  }

  #authenticatorData(rpId: string, flags: number, deviations: PasskeyDeviations): Buffer {
    const userVerified = deviations.verifiesUser === false ? 0 : 0x04;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviations.signCount ?? 0);
    return Buffer.concat([
      sha256(Buffer.from(rpId)),
      Buffer.from([0x01 | userVerified | flags]),
      counter,
    ]);
  }

  /** The public key as COSE: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
