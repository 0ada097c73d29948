import { hash } from 'node:crypto';
import { hashToken } from '../../access/token-mint.ts';
import type { AuditStore } from '../../audit/audit-store.ts';
import { consumeGrantCode, findUsedCode, type GrantCode } from '../authorize/grant-code-store.ts';
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
 * The code grant (contract section 5.3). Spending the code and issuing the tokens are one transaction: a request that
 * is refused by the allowance leaves the code unspent, any other refusal of a live code spends it.
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
    // A forged code is refused without a query.
    if (!mint.recognizes('code', code)) throw refused('the code is not one of ours');
    const outcome = await this.#redeem(hashToken(code), request);
    if (outcome === undefined) {
      await this.#handleCodeReuse(hashToken(code), request);
      throw refused('the code is unknown, expired, used or of another client');
    }
    await this.#record(outcome.tokens === undefined ? 'refused' : 'success', outcome.code, request);
    if (outcome.tokens === undefined) throw refused(outcome.mismatch);
    return outcome.tokens;
  }

  /** @returns undefined where there is no such live code of this client */
  #redeem(codeHash: Buffer, { client, form }: GrantRequest): Promise<Redeemed | undefined> {
    const { database } = this.#dependencies;
    return database.kysely.transaction().execute(async (transaction) => {
      const code = await consumeGrantCode(transaction, codeHash, client.clientId);
      if (code === undefined) return undefined;
      const mismatch = findMismatch(code, client, form);
      if (mismatch !== undefined) return { code, tokens: undefined, mismatch };
      const grant = { ...code, codeHash, passwordHash: undefined };
      return { code, tokens: await issueInitialTokens(this.#dependencies, grant, transaction) };
    });
  }

  /** RFC 6749 section 4.1.2: a code that is used again may be stolen, so what it issued ends. Another client ends nothing. */
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
    { personId, clientId, accountId }: GrantCode,
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
  | { readonly code: GrantCode; readonly tokens: TokenPair }
  | { readonly code: GrantCode; readonly tokens: undefined; readonly mismatch: string };

/** What does not fit between the code and the request, or undefined. */
function findMismatch(code: GrantCode, client: StoredIntegration, form: Form): string | undefined {
  return redirectMismatch(code, form) ?? verifierMismatch(code, client, form);
}

/** RFC 6749 section 4.1.3: the redirect URL of the authorization request, where it was sent there or is sent here. */
function redirectMismatch(code: GrantCode, form: Form): string | undefined {
  const sent = form.get('redirect_uri');
  if (sent === undefined) return code.redirectUriSent ? 'redirect_uri is missing' : undefined;
  return sent === code.redirectUri ? undefined : 'redirect_uri differs';
}

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 7636 section 4.6. A verifier without a challenge is refused too: somebody may have cut the challenge off the
 * authorization request (RFC 9700 section 2.1.1).
 */
function verifierMismatch(
  code: GrantCode,
  client: StoredIntegration,
  form: Form,
): string | undefined {
  const verifier = form.get('code_verifier');
  if (code.codeChallenge === undefined) {
    if (client.requirePkce) return 'PKCE is required since the code was made';
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
