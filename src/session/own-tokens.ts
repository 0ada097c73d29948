import { hashToken, type TokenMint } from '../access/token-mint.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AuditStore, Origin } from './audit-store.ts';
import { endAccessToken, endTokensOfPair } from './end-tokens-store.ts';
import type { KnownIntegration } from './integration-store.ts';
import {
  findOwnAccessToken,
  findOwnRefreshToken,
  type OwnToken,
} from './introspect-tokens-store.ts';

export interface OwnTokensParts {
  readonly database: Database;
  readonly mint: TokenMint;
  readonly clock: Clock;
  readonly audit: AuditStore;
}

/** What a client may do with tokens that it holds itself. */
export class OwnTokens {
  readonly #parts: OwnTokensParts;

  constructor(parts: OwnTokensParts) {
    this.#parts = parts;
  }

  /** The token where it is live and this client's; a hint about its kind is not needed, since its prefix tells. */
  async find(token: string, { clientId }: KnownIntegration): Promise<OwnToken | undefined> {
    const { database, mint, clock } = this.#parts;
    if (mint.recognises('access', token))
      return findOwnAccessToken(database, hashToken(token), clientId, clock.offset);
    if (mint.recognises('refresh', token))
      return findOwnRefreshToken(database, hashToken(token), clientId);
    return undefined;
  }

  /**
   * Ends a token of this client on all nodes; with a refresh token, the access tokens of its person/client pair go too
   * (RFC 7009 section 2.1). Unknown tokens, and those of other clients, are left as they are.
   */
  async revoke(token: string, client: KnownIntegration, origin: Origin): Promise<void> {
    const found = await this.find(token, client);
    if (found === undefined) return;
    const { database, mint, audit } = this.#parts;
    const { clientId, accountId } = client;
    await database.kysely.transaction().execute(async (transaction) => {
      if (mint.recognises('refresh', token))
        await endTokensOfPair(transaction, found.personId, clientId);
      else await endAccessToken(transaction, hashToken(token), clientId);
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
