import type { AuditStore, RequestOrigin } from '../audit/audit-store.ts';
import type { Clock } from '../foundation/clock.ts';
import { isPublicId } from '../foundation/ids.ts';
import type { ClientCredentials } from './client-credentials.ts';
import type { ClientSecretHasher } from './client-secret.ts';
import type { IntegrationDirectory } from './integration-directory.ts';
import type { StoredIntegration } from './integration-store.ts';
import { InvalidClient } from './oauth-errors.ts';

/** Rate limit for audit entries: otherwise anyone who knows a client ID could flood the audit log. */
const recordIntervalMs = 60_000;

/** Replaces the stored hash of an unchanged secret. */
export type StoreSecretHash = (
  clientId: StoredIntegration['clientId'],
  from: Uint8Array,
  to: Buffer,
) => Promise<void>;

/** Authenticates registered clients by their credentials (contract section 5.1 rule 2). */
export class ClientAuthenticator {
  readonly #directory: IntegrationDirectory;
  readonly #secrets: ClientSecretHasher;
  readonly #audit: AuditStore;
  /** When each integration's last failure was recorded; there are few integrations. */
  readonly #recordedAt = new Map<string, number>();
  readonly #clock: Clock;
  readonly #storeSecretHash: StoreSecretHash;

  constructor(
    directory: IntegrationDirectory,
    secrets: ClientSecretHasher,
    audit: AuditStore,
    clock: Clock,
    storeSecretHash: StoreSecretHash = async () => undefined,
  ) {
    this.#storeSecretHash = storeSecretHash;
    this.#audit = audit;
    this.#clock = clock;
    this.#directory = directory;
    this.#secrets = secrets;
  }

  /**
   * Returns the integration that the credentials belong to. Failures of a known client are recorded at most once a
   * minute.
   * @throws InvalidClient, whose public message is the same whatever was wrong
   */
  async authenticate(
    credentials: ClientCredentials,
    origin: RequestOrigin,
  ): Promise<StoredIntegration> {
    const { clientId, secrets, byHeader } = credentials;
    const integration = isPublicId(clientId)
      ? await this.#directory.integration(clientId)
      : undefined;
    const problem = this.#findProblem(integration, secrets);
    if (integration === undefined || problem !== undefined) {
      if (integration !== undefined && problem !== undefined)
        await this.#record(integration, problem, origin);
      throw new InvalidClient('The client is unknown or its secret is wrong', byHeader, {
        cause: problem,
      });
    }
    this.#rehashSecret(integration, secrets);
    return integration;
  }

  /**
   * Rehashes a secret stored under the previous master key, in the background; if that fails, the next use tries
   * again.
   */
  #rehashSecret({ clientId, secretHash }: StoredIntegration, secrets: readonly string[]): void {
    for (const secret of secrets) {
      const newHash = this.#secrets.rehash(secret, secretHash);
      if (newHash !== undefined)
        this.#storeSecretHash(clientId, secretHash, newHash).catch(() => undefined);
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
    const kind = 'client_authentication';
    const detail = { reason };
    await this.#audit.record({ kind, outcome: 'refused', clientId, accountId, origin, detail });
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
      previousSecret.until.getTime() > this.#clock.now() &&
      this.#secrets.matches(secret, previousSecret.hash)
    );
  }
}
