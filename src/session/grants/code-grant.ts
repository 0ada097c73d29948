import { hash } from 'node:crypto';
import { hashToken } from '../../access/token-mint.ts';
import type { AuditStore } from '../../audit/audit-store.ts';
import {
  type AuthorizationCode,
  consumeAuthorizationCode,
  findUsedCode,
} from '../authorize/authorization-code-store.ts';
import type { Form } from '../form.ts';
import { type InitialTokensDependencies, issueInitialTokens } from '../initial-tokens.ts';
import type { StoredIntegration } from '../integration-store.ts';
import { InvalidGrant } from '../oauth-errors.ts';
import { revokeCodeTokens } from '../revoke-tokens-store.ts';
import type { Grant, GrantRequest, TokenPair } from './grant.ts';

export interface CodeGrantDependencies extends InitialTokensDependencies {
  readonly audit: AuditStore;
}

/**
 * The code grant (contract section 5.3). Consuming the code and issuing the tokens are one transaction: if the
 * allowance refuses the request, the code stays valid; any other refusal of a live code consumes it.
 */
export class CodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #dependencies: CodeGrantDependencies;

  constructor(dependencies: CodeGrantDependencies) {
    this.#dependencies = dependencies;
  }

  async run(request: GrantRequest): Promise<TokenPair> {
    const { mint } = this.#dependencies;
    const code = request.form.require('code');
    // A forged code is rejected without a query.
    if (!mint.recognizes('code', code)) throw refused('the code was not issued here');
    const outcome = await this.#redeem(hashToken(code), request);
    if (outcome === undefined) {
      await this.#handleCodeReuse(hashToken(code), request);
      throw refused('the code is unknown, expired, used or belongs to another client');
    }
    await this.#record(outcome.tokens === undefined ? 'refused' : 'success', outcome.code, request);
    if (outcome.tokens === undefined) throw refused(outcome.mismatch);
    return outcome.tokens;
  }

  /** @returns undefined if this client has no such live code */
  #redeem(codeHash: Buffer, { client, form }: GrantRequest): Promise<Redeemed | undefined> {
    const { database } = this.#dependencies;
    return database.kysely.transaction().execute(async (transaction) => {
      const code = await consumeAuthorizationCode(transaction, codeHash, client.clientId);
      if (code === undefined) return undefined;
      const mismatch = findMismatch(code, client, form);
      if (mismatch !== undefined) return { code, tokens: undefined, mismatch };
      const grant = { ...code, codeHash, passwordHash: undefined };
      return { code, tokens: await issueInitialTokens(this.#dependencies, grant, transaction) };
    });
  }

  /**
   * RFC 6749 section 4.1.2: a reused code may be stolen, so the tokens it issued are revoked. Another client can't
   * trigger that.
   */
  async #handleCodeReuse(codeHash: Buffer, { client, origin }: GrantRequest): Promise<void> {
    const { database, audit } = this.#dependencies;
    const usedCode = await findUsedCode(database.kysely, codeHash);
    if (usedCode === undefined) return;
    if (usedCode.clientId === client.clientId)
      await database.kysely
        .transaction()
        .execute((transaction) => revokeCodeTokens(transaction, codeHash));
    await audit.record({
      kind: 'grant_code_reused',
      outcome: 'refused',
      personId: usedCode.personId,
      clientId: client.clientId,
      accountId: client.accountId,
      origin,
    });
  }

  #record(
    outcome: 'success' | 'refused',
    { personId, clientId, accountId }: AuthorizationCode,
    { origin }: GrantRequest,
  ): Promise<void> {
    const kind = 'code_grant';
    return this.#dependencies.audit.record({
      kind,
      outcome,
      personId,
      clientId,
      accountId,
      origin,
    });
  }
}

type Redeemed =
  | { readonly code: AuthorizationCode; readonly tokens: TokenPair }
  | { readonly code: AuthorizationCode; readonly tokens: undefined; readonly mismatch: string };

/** Describes a mismatch between the code and the request; undefined if there is none. */
function findMismatch(
  code: AuthorizationCode,
  client: StoredIntegration,
  form: Form,
): string | undefined {
  return redirectMismatch(code, form) ?? verifierMismatch(code, client, form);
}

/** RFC 6749 section 4.1.3: the redirect URL must match the authorization request's if either request contained one. */
function redirectMismatch(code: AuthorizationCode, form: Form): string | undefined {
  const sent = form.get('redirect_uri');
  if (sent === undefined) return code.redirectUriSent ? 'redirect_uri is missing' : undefined;
  return sent === code.redirectUri ? undefined : 'redirect_uri differs';
}

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 7636 section 4.6. A verifier without a challenge is rejected too: an attacker may have removed the challenge
 * from the authorization request (RFC 9700 section 2.1.1).
 */
function verifierMismatch(
  code: AuthorizationCode,
  client: StoredIntegration,
  form: Form,
): string | undefined {
  const verifier = form.get('code_verifier');
  if (code.codeChallenge === undefined) {
    if (client.requirePkce) return 'PKCE became required after the code was issued';
    return verifier === undefined ? undefined : 'code_verifier without code_challenge';
  }
  if (verifier === undefined) return 'code_verifier is missing';
  const matches =
    verifierPattern.test(verifier) && hash('sha256', verifier, 'base64url') === code.codeChallenge;
  return matches ? undefined : 'code_verifier differs';
}

function refused(cause: string): InvalidGrant {
  return new InvalidGrant('The code is not valid', { cause });
}
