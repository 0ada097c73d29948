import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { isPublicId } from '../../base/values/ids.ts';
import { type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { decodeFormValue, type Form } from '../sign-in/form.ts';
import type { SessionModuleDependencies } from '../sign-in/session-dependencies.ts';
import { renewSecretHash } from './integration-control-store.ts';
import type { StoredIntegration } from './integration-store.ts';
import { OAuthError } from './oauth-errors.ts';

/**
 * Hashes client secrets with HMAC-SHA256 under a key of the installation. The secrets are random or long, so nothing
 * slower is needed, and a stolen database alone allows no guessing.
 */
export class ClientSecretHasher {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('client secret');
  }

  /** The hash to store for a secret. */
  hash(secret: string): Buffer {
    return this.#keys.sign(secret);
  }

  /** True if `secret` matches the stored hash; takes constant time. */
  matches(secret: string, secretHash: Uint8Array): boolean {
    return this.#keys.verify(secret, secretHash);
  }

  /** The hash to store for a matching secret, if the stored one is outdated. */
  rehash(secret: string, secretHash: Uint8Array): Buffer | undefined {
    if (this.#keys.others.length === 0 || !this.matches(secret, secretHash)) return undefined;
    const renewed = this.hash(secret);
    return renewed.equals(secretHash) ? undefined : renewed;
  }
}

/** Only a client that used the Authorization header gets a challenge, because some clients ignore the body of a challenge. */
function refuseClient(message: string, byHeader: boolean, cause?: string): OAuthError {
  const challenge = byHeader ? 'Basic realm="signalpost", charset="UTF-8"' : undefined;
  return new OAuthError('invalid_client', message, { cause, challenge });
}

/** The credentials of a client; `byHeader` if it used HTTP Basic. */
interface ClientCredentials {
  readonly clientId: string;
  /** Possible secrets: HTTP Basic can be decoded in two ways. */
  readonly secrets: readonly string[];
  readonly byHeader: boolean;
}

/**
 * Reads the client's credentials from the form (contract section 5.1 rule 2) or the Authorization header (RFC 6749
 * section 2.3.1: each part form-encoded, then Basic). Both may be sent if they agree. With credentials in the form, a
 * header of another scheme is ignored, because known clients keep sending their last access token.
 * @throws OAuthError if there are none, or the two differ
 */
export function readClientCredentials(
  authorization: string | undefined,
  form: Form,
): ClientCredentials {
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  const isBasic = authorization !== undefined && /^basic( |$)/i.test(authorization);
  if (authorization === undefined || (secret !== undefined && !isBasic)) {
    if (clientId === undefined || secret === undefined)
      throw refuseClient('client_id and client_secret are required', false);
    return { clientId, secrets: [secret], byHeader: false };
  }
  const credentials = decodeBasic(authorization);
  if (credentials === undefined)
    throw refuseClient('The Authorization header is not valid HTTP Basic', true);
  if (clientId !== undefined && clientId !== credentials.clientId)
    throw new OAuthError(
      'invalid_request',
      'The form and the Authorization header name different clients',
    );
  if (secret !== undefined && !credentials.secrets.includes(secret))
    throw new OAuthError(
      'invalid_request',
      'The form and the Authorization header contain different secrets',
    );
  return { ...credentials, byHeader: true };
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * Client id and secret of a Basic header, or undefined if it isn't one. Both should be form-encoded; many clients
 * omit that, so the undecoded secret is accepted too.
 */
export function decodeBasic(
  authorization: string,
): { readonly clientId: string; readonly secrets: readonly string[] } | undefined {
  const encoded = basicPattern.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const clientId = decodeFormValue(text.slice(0, colon));
  const raw = text.slice(colon + 1);
  const secrets = [...new Set([decodeFormValue(raw) ?? raw, raw])].filter((one) => one !== '');
  if (clientId === undefined || clientId === '' || secrets.length === 0) return undefined;
  return { clientId, secrets };
}

/** Rate limit for audit entries: otherwise anyone who knows a client ID could flood the audit log. */
const recordIntervalMs = 60_000;

/** Authenticates registered clients by their credentials (contract section 5.1 rule 2). */
export class ClientAuthenticator {
  readonly #dependencies: SessionModuleDependencies;
  readonly #secrets: ClientSecretHasher;
  /** When each integration's last failure was recorded; there are few integrations. */
  readonly #recordedAt = new Map<string, number>();

  constructor(dependencies: SessionModuleDependencies) {
    this.#dependencies = dependencies;
    this.#secrets = new ClientSecretHasher(dependencies.key);
  }

  /**
   * Returns the integration that the credentials belong to. Failures of a known client are recorded at most once a
   * minute.
   * @throws OAuthError, whose public message is the same whatever was wrong
   */
  async authenticate(
    credentials: ClientCredentials,
    origin: RequestOrigin,
  ): Promise<StoredIntegration> {
    const { clientId, secrets, byHeader } = credentials;
    const integration = isPublicId(clientId)
      ? await this.#dependencies.integrations.integration(clientId)
      : undefined;
    const problem = this.#findProblem(integration, secrets);
    if (integration === undefined || problem !== undefined) {
      if (integration !== undefined && problem !== undefined)
        await this.#record(integration, problem, origin);
      throw refuseClient('The client is unknown or its secret is wrong', byHeader, problem);
    }
    this.#rehashSecret(integration, secrets);
    return integration;
  }

  /**
   * Rehashes a secret stored under the previous master key, in the background; if that fails, the next use tries
   * again.
   */
  #rehashSecret({ clientId, secretHash }: StoredIntegration, secrets: readonly string[]): void {
    const { kysely } = this.#dependencies.database;
    for (const secret of secrets) {
      const newHash = this.#secrets.rehash(secret, secretHash);
      if (newHash !== undefined)
        renewSecretHash(kysely, clientId, secretHash, newHash).catch(() => undefined);
    }
  }

  async #record(
    { clientId, accountId }: StoredIntegration,
    reason: string,
    origin: RequestOrigin,
  ): Promise<void> {
    const now = performance.now();
    if ((this.#recordedAt.get(clientId) ?? -Infinity) > now - recordIntervalMs) return;
    this.#recordedAt.set(clientId, now);
    await recordAuditEvent(this.#dependencies.database.kysely, {
      kind: 'client_authentication',
      outcome: 'refused',
      clientId,
      accountId,
      origin,
      detail: { reason },
    });
  }

  #findProblem(
    integration: StoredIntegration | undefined,
    secrets: readonly string[],
  ): string | undefined {
    if (integration === undefined) return 'unknown client';
    if (!secrets.some((secret) => this.#hasValidSecret(integration, secret))) return 'wrong secret';
    return integration.disabled ? 'disabled client' : undefined;
  }

  /** Checks the current secret, and the previous one while the overlap of a rotation lasts. */
  #hasValidSecret(integration: StoredIntegration, secret: string): boolean {
    if (this.#secrets.matches(secret, integration.secretHash)) return true;
    const { previousSecret } = integration;
    return (
      previousSecret !== undefined &&
      previousSecret.until.getTime() > this.#dependencies.clock.now() &&
      this.#secrets.matches(secret, previousSecret.hash)
    );
  }
}
