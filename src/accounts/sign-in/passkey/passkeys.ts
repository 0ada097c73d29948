import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { Ajv } from 'ajv';
import { type TSchema, Type } from 'typebox';
import type { PersonId } from '../../../base/values/ids.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import { type ChallengeScope, challengeMs, PasskeyChallenges } from './passkey-challenges.ts';
import {
  findPasskey,
  listPasskeys,
  type PasskeyCredential,
  recordPasskeyUse,
  type StoredPasskey,
  savePasskey,
} from './passkey-store.ts';

/** The site that passkeys of this service are bound to (WebAuthn Level 2, relying party). */
interface PasskeySite {
  /** The relying party ID: the host name. */
  readonly rpId: string;
  readonly origin: string;
}

/** The site, or a sentence that says why this service can't have passkeys and what to change. */
type PasskeySupport = PasskeySite | { readonly problem: string };

/**
 * Browsers offer passkeys only to secure pages with a host name (WebAuthn Level 2, section 5.1.2): https, or localhost
 * without TLS.
 * @param publicUrl the public base URL
 */
export function passkeySupport(publicUrl: string): PasskeySupport {
  const { protocol, hostname, origin, port } = new URL(publicUrl);
  const address = hostname.replace(/^\[|\]$/g, '');
  const local = `http://localhost${port && `:${port}`}`;
  const fix = `Set PUBLIC_URL to an https address, or to ${local} for a browser on the same machine.`;
  if (isIP(address) !== 0)
    return {
      problem: `Passkeys need a host name, and this service’s address is the IP address ${address}. ${fix}`,
    };
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isLocal)
    return { problem: `Passkeys need https, and this service’s address is ${origin}. ${fix}` };
  return { rpId: hostname, origin };
}

/** COSE algorithms in order of preference: EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257];

/** A request to the browser for a passkey, as a page carries it. */
export interface PasskeyPrompt {
  readonly purpose: ChallengeScope['purpose'];
  /** The only origin where it works. */
  readonly origin: string;
  readonly options: PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON;
}

/** The person who registers a passkey, as the authenticator shows them. */
interface PasskeyOwner {
  readonly personId: PersonId;
  readonly email: string;
  readonly name: string;
}

/**
 * Passkeys (WebAuthn Level 2): registration, and assertions as the only factor or as the second one. Attestation isn't
 * asked for: any authenticator is welcome.
 */
export class Passkeys {
  readonly #dependencies: SessionModuleDependencies;
  readonly #challenges: PasskeyChallenges;

  constructor(dependencies: SessionModuleDependencies) {
    this.#dependencies = dependencies;
    this.#challenges = new PasskeyChallenges(dependencies.key, dependencies.clock);
  }

  /** Why this service can't have passkeys; undefined if it can. Only operators learn the cause, which they can fix. */
  async problemFor(personId: PersonId): Promise<string | undefined> {
    const support = passkeySupport(this.#dependencies.publicUrl());
    if (!('problem' in support)) return undefined;
    return (await this.#dependencies.facts.isOperator(personId))
      ? support.problem
      : 'Not available here. If you need them, ask an operator.';
  }

  /** What the browser needs to create a passkey; undefined if this service can't have any. */
  async promptToRegister(owner: PasskeyOwner, csrf: string): Promise<PasskeyPrompt | undefined> {
    const site = this.#site();
    if (site === undefined) return undefined;
    const { personId, email, name } = owner;
    const existing = await listPasskeys(this.#dependencies.database.kysely, personId);
    const options: PublicKeyCredentialCreationOptionsJSON = {
      rp: { id: site.rpId, name: 'Signalpost' },
      // Not personal data: authenticators may show it without verifying their user (WebAuthn Level 2, 14.6.1).
      user: { id: userHandleOf(personId), name: email, displayName: name },
      challenge: this.#challenges.create({ purpose: 'register', csrf, personId }),
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: challengeMs,
      attestation: 'none',
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      excludeCredentials: existing.map(describe),
    };
    return { purpose: 'register', origin: site.origin, options };
  }

  /** @returns false if the response isn't a valid registration for this browser, or the passkey can't be added */
  async register(
    { personId }: Pick<PasskeyOwner, 'personId'>,
    csrf: string,
    name: string,
    text: string,
  ): Promise<boolean> {
    const site = this.#site();
    const answer = readAnswer<RegistrationResponseJSON>(registrationSchema, text);
    if (site === undefined || answer === undefined) return false;
    const { response, challenge } = answer;
    const live = this.#challenges.read(challenge, { purpose: 'register', csrf, personId });
    if (live === undefined) return false;
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const verified = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }).catch(() => undefined);
    if (verified?.verified !== true) return false;
    const { credential } = verified.registrationInfo;
    return savePasskey(
      this.#dependencies.database.kysely,
      {
        personId,
        credentialId: Buffer.from(credential.id, 'base64url'),
        publicKey: credential.publicKey,
        signCount: credential.counter,
        transports: (credential.transports ?? []).filter((transport) =>
          /^[a-z-]{1,40}$/.test(transport),
        ),
        name,
      },
      live,
    );
  }

  /**
   * What the browser needs to use a passkey: one of the person's, or without a person any that verifies its user.
   * @returns undefined if this service can't have passkeys, or the person has none
   */
  async prompt(scope: ChallengeScope): Promise<PasskeyPrompt | undefined> {
    const site = this.#site();
    if (site === undefined) return undefined;
    const { personId } = scope;
    const own =
      personId === undefined
        ? []
        : await listPasskeys(this.#dependencies.database.kysely, personId);
    if (personId !== undefined && own.length === 0) return undefined;
    const options: PublicKeyCredentialRequestOptionsJSON = {
      challenge: this.#challenges.create(scope),
      rpId: site.rpId,
      timeout: challengeMs,
      userVerification: userVerification[scope.purpose],
      allowCredentials: own.map(describe),
    };
    return { purpose: scope.purpose, origin: site.origin, options };
  }

  /**
   * Checks the browser's response to such a request. Each challenge works once.
   * @returns the person; undefined if the response isn't valid
   */
  async verify(scope: ChallengeScope, text: string): Promise<PersonId | undefined> {
    const site = this.#site();
    const answer = readAnswer<AuthenticationResponseJSON>(assertionSchema, text);
    if (site === undefined || answer === undefined) return undefined;
    const { response, challenge } = answer;
    // Checked first, so that strangers cost no query and no signature check.
    const live = this.#challenges.read(challenge, scope);
    if (live === undefined) return undefined;
    const { kysely } = this.#dependencies.database;
    const passkey = await findPasskey(kysely, Buffer.from(response.id, 'base64url'));
    if (passkey === undefined || !isOwner(passkey, scope, response.response.userHandle))
      return undefined;
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: userVerification[scope.purpose] === 'required',
      credential: {
        id: response.id,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.signCount,
      },
    }).catch(() => undefined);
    if (verified?.verified !== true) return undefined;
    const { newCounter } = verified.authenticationInfo;
    return (await recordPasskeyUse(kysely, passkey, newCounter, live))
      ? passkey.personId
      : undefined;
  }

  #site(): PasskeySite | undefined {
    const support = passkeySupport(this.#dependencies.publicUrl());
    return 'problem' in support ? undefined : support;
  }
}

/**
 * Alone, a passkey must verify its user by PIN, fingerprint or face. After the password, or within a session, presence is
 * enough, so that security keys without a PIN work too.
 */
const userVerification = {
  'sign-in': 'required',
  'second-factor': 'discouraged',
  confirm: 'preferred',
  register: 'preferred',
} as const satisfies Readonly<Record<ChallengeScope['purpose'], string>>;

/** WebAuthn Level 2, section 7.2, step 6. */
function isOwner(
  { personId }: StoredPasskey,
  scope: ChallengeScope,
  userHandle: string | undefined,
): boolean {
  if (userHandle !== undefined && userHandle !== '' && userHandle !== userHandleOf(personId))
    return false;
  return scope.personId === undefined ? Boolean(userHandle) : scope.personId === personId;
}

/** The user handle of a person: the bytes of their ID. */
function userHandleOf(personId: PersonId): string {
  return Buffer.from(personId.replaceAll('-', ''), 'hex').toString('base64url');
}

function describe({ credentialId, transports }: PasskeyCredential) {
  return {
    id: credentialId.toString('base64url'),
    type: 'public-key' as const,
    transports: transports as AuthenticatorTransport[],
  };
}

/** Longer parts can't come from a browser within the size of a form. */
const part = Type.String({ maxLength: 16_384, pattern: '^[A-Za-z0-9_-]*$' });

const credentialId = Type.String({ minLength: 1, maxLength: 1_400, pattern: '^[A-Za-z0-9_-]+$' });

function answerSchema(response: TSchema) {
  return Type.Object({
    id: credentialId,
    rawId: credentialId,
    type: Type.Literal('public-key'),
    response,
    clientExtensionResults: Type.Object({}),
  });
}

const assertionSchema = answerSchema(
  Type.Object({
    clientDataJSON: part,
    authenticatorData: part,
    signature: part,
    userHandle: Type.Optional(part),
  }),
);

const registrationSchema = answerSchema(
  Type.Object({
    clientDataJSON: part,
    attestationObject: part,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 20 })),
  }),
);

const ajv = new Ajv();

/**
 * Reads the JSON form of a browser's response to a passkey request (WebAuthn Level 3, section 5.1.9), and the challenge that it
 * claims to sign.
 * @returns undefined if it isn't well-formed
 */
function readAnswer<Response extends { readonly response: { readonly clientDataJSON: string } }>(
  schema: TSchema,
  text: string,
): { readonly response: Response; readonly challenge: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!ajv.compile<Response>(schema)(value)) return undefined;
    const clientData: unknown = JSON.parse(
      Buffer.from(value.response.clientDataJSON, 'base64url').toString('utf8'),
    );
    const { challenge } = clientData as { readonly challenge?: unknown };
    return typeof challenge === 'string' ? { response: value, challenge } : undefined;
  } catch {
    return undefined;
  }
}
