import type { Clock } from '../foundation/clock.ts';
import { isPublicId } from '../foundation/ids.ts';
import type { AuditStore, Origin } from './audit-store.ts';
import type { ClientCredentials } from './client-credentials.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { IntegrationDirectory } from './integration-directory.ts';
import type { KnownIntegration } from './integration-store.ts';
import { InvalidClient } from './oauth-errors.ts';

/** A stranger who knows a client id could fill the audit log otherwise. */
const pauseMilliseconds = 60_000;

/** Stores another hash of the same secret. */
export type RenewSecret = (
  clientId: KnownIntegration['clientId'],
  from: Uint8Array,
  to: Buffer,
) => Promise<void>;

/** Knows registered clients by their credentials (contract section 5.1 rule 2). */
export class ClientAuthenticator {
  readonly #directory: IntegrationDirectory;
  readonly #secrets: ClientSecrets;
  readonly #audit: AuditStore;
  /** When each integration's last failure was recorded; integrations are few. */
  readonly #recordedAt = new Map<string, number>();
  readonly #clock: Clock;
  readonly #renewSecret: RenewSecret;

  constructor(
    directory: IntegrationDirectory,
    secrets: ClientSecrets,
    audit: AuditStore,
    clock: Clock,
    renewSecret: RenewSecret = async () => undefined,
  ) {
    this.#renewSecret = renewSecret;
    this.#audit = audit;
    this.#clock = clock;
    this.#directory = directory;
    this.#secrets = secrets;
  }

  /**
   * The integration that the credentials prove. What a known one gets wrong is recorded, once a minute at most.
   * @throws InvalidClient, whose public sentence is the same whatever was wrong
   */
  async authenticate(credentials: ClientCredentials, origin: Origin): Promise<KnownIntegration> {
    const { clientId, secrets, byHeader } = credentials;
    const integration = isPublicId(clientId)
      ? await this.#directory.integration(clientId)
      : undefined;
    const wrong = this.#whatIsWrong(integration, secrets);
    if (integration === undefined || wrong !== undefined) {
      if (integration !== undefined && wrong !== undefined)
        await this.#record(integration, wrong, origin);
      throw new InvalidClient('The client is unknown or its secret is wrong', byHeader, {
        cause: wrong,
      });
    }
    this.#renew(integration, secrets);
    return integration;
  }

  /** A secret that was stored under the master key before is stored anew; nobody waits for that, and the next use tries again. */
  #renew({ clientId, secretHash }: KnownIntegration, secrets: readonly string[]): void {
    for (const secret of secrets) {
      const renewed = this.#secrets.renewed(secret, secretHash);
      if (renewed !== undefined)
        this.#renewSecret(clientId, secretHash, renewed).catch(() => undefined);
    }
  }

  async #record(
    { clientId, accountId }: KnownIntegration,
    reason: string,
    origin: Origin,
  ): Promise<void> {
    const now = performance.now();
    if ((this.#recordedAt.get(clientId) ?? -Infinity) > now - pauseMilliseconds) return;
    this.#recordedAt.set(clientId, now);
    const kind = 'client_authentication';
    const detail = { reason };
    await this.#audit.record({ kind, outcome: 'refused', clientId, accountId, origin, detail });
  }

  #whatIsWrong(
    integration: KnownIntegration | undefined,
    secrets: readonly string[],
  ): string | undefined {
    if (integration === undefined) return 'unknown client';
    if (!secrets.some((secret) => this.#provesItself(integration, secret))) return 'wrong secret';
    return integration.disabled ? 'disabled client' : undefined;
  }

  /** The current secret, or the one before it while the overlap of a rotation lasts. */
  #provesItself(integration: KnownIntegration, secret: string): boolean {
    if (this.#secrets.matches(secret, integration.secretHash)) return true;
    const { previousSecret } = integration;
    return (
      previousSecret !== undefined &&
      previousSecret.until.getTime() > this.#clock.now() &&
      this.#secrets.matches(secret, previousSecret.hash)
    );
  }
}
