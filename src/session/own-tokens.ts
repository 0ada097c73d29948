import { hashToken, type TokenMint } from '../access/token-mint.ts';
import type { AuditStore, RequestOrigin } from '../audit/audit-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { StoredIntegration } from './integration-store.ts';
import {
  findOwnAccessToken,
  findOwnRefreshToken,
  type OwnToken,
} from './introspect-tokens-store.ts';
import { revokeAccessToken, revokeReachedTokens } from './revoke-tokens-store.ts';

export interface OwnTokensDependencies {
  readonly database: Database;
  readonly mint: TokenMint;
  readonly audit: AuditStore;
}

/** Introspection and revocation of a client's own tokens. */
export class OwnTokens {
  readonly #dependencies: OwnTokensDependencies;

  constructor(dependencies: OwnTokensDependencies) {
    this.#dependencies = dependencies;
  }

  /** Finds a live token of this client; its prefix reveals the kind, so no hint is needed. */
  async find(token: string, { clientId }: StoredIntegration): Promise<OwnToken | undefined> {
    const { database, mint } = this.#dependencies;
    if (mint.recognizes('access', token))
      return findOwnAccessToken(database, hashToken(token), clientId);
    if (mint.recognizes('refresh', token))
      return findOwnRefreshToken(database, hashToken(token), clientId);
    return undefined;
  }

  /**
   * Revokes a token of this client on all nodes; with a refresh token, also the access tokens of its person/client
   * pair (RFC 7009 section 2.1). Unknown tokens and those of other clients are ignored.
   */
  async revoke(token: string, client: StoredIntegration, origin: RequestOrigin): Promise<void> {
    const found = await this.find(token, client);
    if (found === undefined) return;
    const { database, mint, audit } = this.#dependencies;
    const { clientId, accountId } = client;
    await database.kysely.transaction().execute(async (transaction) => {
      if (mint.recognizes('refresh', token))
        await revokeReachedTokens(
          transaction,
          { personId: found.personId, reach: 'all' },
          clientId,
        );
      else await revokeAccessToken(transaction, hashToken(token), clientId);
    });
    await audit.record({
      kind: 'token_revoked',
      outcome: 'success',
      personId: found.personId,
      clientId,
      accountId,
      origin,
    });
  }
}
