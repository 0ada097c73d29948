import { hashToken, type TokenMint } from '../../access/token-mint.ts';
import type { AuditStore } from '../../audit/audit-store.ts';
import { InvalidGrant } from '../oauth-errors.ts';
import type { RefreshTokenStore } from '../tokens-store.ts';
import type { Grant, GrantRequest, TokenPair } from './grant.ts';

export interface RefreshGrantDependencies {
  readonly mint: TokenMint;
  readonly store: RefreshTokenStore;
  readonly audit: AuditStore;
}

/**
 * The refresh grant (contract section 5.4): exchanges the pair's single live refresh token for a new pair of tokens.
 * It neither counts toward the allowance nor is refused by it.
 */
export class RefreshGrant implements Grant {
  readonly type = 'refresh_token';
  readonly #dependencies: RefreshGrantDependencies;

  constructor(dependencies: RefreshGrantDependencies) {
    this.#dependencies = dependencies;
  }

  async run({ client, form, origin }: GrantRequest): Promise<TokenPair> {
    const { mint, store } = this.#dependencies;
    const usedToken = form.require('refresh_token');
    // A forged token is rejected without a query.
    if (!mint.recognizes('refresh', usedToken)) throw refused('the token was not issued here');
    const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
    const refreshed = await store.refresh({
      clientId: client.clientId,
      usedHash: hashToken(usedToken),
      accessHash: access.hash,
      refreshHash: refresh.hash,
    });
    if (refreshed) return { accessToken: access.text, refreshToken: refresh.text };
    await this.#recordReuse(usedToken, { client, form, origin });
    throw refused('the token was used, replaced or revoked, or belongs to another client');
  }

  /**
   * A genuine token that is not live was used or replaced before, so it may be stolen (RFC 9700 section 4.14.2). The
   * live one stays valid, as section 5.1 rule 4 of the contract says; the audit log records the event.
   */
  async #recordReuse(usedToken: string, { client, origin }: GrantRequest): Promise<void> {
    await this.#dependencies.audit.record({
      kind: 'refresh_token_reused',
      outcome: 'refused',
      personId: await this.#dependencies.store.findPersonOfUsedToken(hashToken(usedToken)),
      clientId: client.clientId,
      accountId: client.accountId,
      origin,
    });
  }
}

function refused(cause: string): InvalidGrant {
  return new InvalidGrant('The refresh token is not valid', { cause });
}
