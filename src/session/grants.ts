import { hash } from 'node:crypto';
import { hashToken, type TokenMint } from '../access/token-mint.ts';
import type { PersonWithPassword } from '../account/person-store.ts';
import type { AuditStore, RequestOrigin } from '../audit/audit-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../foundation/ids.ts';
import {
  type AuthorizationCode,
  consumeAuthorizationCode,
  findUsedCode,
} from './authorize/authorization-code-store.ts';
import type { Form } from './form.ts';
import type { GrantType, StoredIntegration } from './integration-store.ts';
import { InvalidGrant, OAuthError, SlowDown } from './oauth-errors.ts';
import { revokeCodeTokens } from './revoke-tokens-store.ts';
import type { SessionContext } from './session-context.ts';
import { issueTokens, type RefreshTokenStore, secondsUntilAllowed } from './tokens-store.ts';

interface InitialTokensDependencies {
  readonly database: Database;
  readonly mint: TokenMint;
}

/** The person and credentials of a verified grant. */
interface ProvenGrant {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  readonly accountId: AccountId | undefined;
  /** The hash that the password matched, if one was used. */
  readonly passwordHash: string | undefined;
  /** The consumed code, if one was used. */
  readonly codeHash: Buffer | undefined;
}

/**
 * Issues tokens for an initial token request within the allowance.
 * @throws SlowDown if the allowance is used up, InvalidGrant if the person changed in the meantime
 */
export async function issueInitialTokens(
  { database, mint }: InitialTokensDependencies,
  proven: ProvenGrant,
  executor = database.kysely,
): Promise<TokenPair> {
  const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
  const issue = () =>
    issueTokens(executor, { ...proven, accessHash: access.hash, refreshHash: refresh.hash });
  const tokens = { accessToken: access.text, refreshToken: refresh.text };
  if (await issue()) return tokens;
  const seconds = await secondsUntilAllowed(executor, proven);
  // A request may have left the hour since.
  if (seconds === undefined && (await issue())) return tokens;
  if (seconds === undefined)
    throw new InvalidGrant('The grant is not valid', {
      cause: 'the person changed in the meantime',
    });
  throw new SlowDown(
    'No initial token requests are left for this hour; use the refresh token instead',
    seconds,
  );
}

/** A token request whose client is authenticated and may use the grant. */
interface GrantRequest {
  readonly client: StoredIntegration;
  readonly form: Form;
  readonly origin: RequestOrigin;
}

/** The tokens that a grant issues; their lifetime is always the same (contract section 2.1). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A grant type. */
export interface Grant {
  readonly type: GrantType;
  /** @throws OAuthError if the grant is refused */
  run(request: GrantRequest): Promise<TokenPair>;
}

/**
 * The password grant (contract section 5.2). RFC 9700 section 2.4 advises against it; it is for in-house integrations
 * with a service user, and only if they are registered for it.
 */
export class PasswordGrant implements Grant {
  readonly type = 'password';
  readonly #context: SessionContext;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Checks the password before the allowance, so that a 429 of the allowance reveals nothing to an attacker. */
  async run({ client, form, origin }: GrantRequest): Promise<TokenPair> {
    const email = form.require('username');
    const password = form.require('password');
    const person = await this.#authenticate(email, password, client, origin);
    try {
      await this.#refuseSecondFactor(person);
      const tokens = await this.#issue(person, client);
      await this.#record('success', person.id, client, origin);
      return tokens;
    } catch (error) {
      if (error instanceof OAuthError)
        await this.#record('refused', person.id, client, origin, error.error);
      throw error;
    }
  }

  async #authenticate(
    email: string,
    password: string,
    client: StoredIntegration,
    origin: RequestOrigin,
  ): Promise<PersonWithPassword> {
    const result = await this.#context.passwordAuthenticator.authenticate(email, password, {
      kind: 'client',
      accountId: client.accountId,
      clientId: client.clientId,
      remoteAddress: origin.remoteAddress,
    });
    if (result.person !== undefined) return result.person;
    const reason = result.needsProvider ? 'needs_provider' : 'wrong_password';
    await this.#record('refused', result.claimed?.id, client, origin, reason);
    if (result.needsProvider)
      throw new InvalidGrant('This user signs in with a provider; use a service user');
    throw new InvalidGrant('The user name or password is wrong', {
      cause: result.claimed === undefined ? 'unknown person' : 'wrong password or disabled person',
    });
  }

  /** A password alone must not be worth more here than on the sign-in page. */
  async #refuseSecondFactor(person: PersonWithPassword): Promise<void> {
    if (await this.#context.secondFactors.has(person.id))
      throw new InvalidGrant(
        'This user has a second factor; use the code grant, or a service user',
      );
  }

  #issue(person: PersonWithPassword, client: StoredIntegration): Promise<TokenPair> {
    return issueInitialTokens(this.#context, {
      personId: person.id,
      clientId: client.clientId,
      accountId: undefined,
      passwordHash: person.passwordHash,
      codeHash: undefined,
    });
  }

  #record(
    outcome: 'success' | 'refused',
    personId: PersonId | undefined,
    { clientId, accountId }: StoredIntegration,
    origin: RequestOrigin,
    reason?: string,
  ): Promise<void> {
    const kind = 'password_grant';
    const detail: Record<string, string> = reason === undefined ? {} : { reason };
    return this.#context.audit.record({
      kind,
      outcome,
      personId,
      clientId,
      accountId,
      origin,
      detail,
    });
  }
}

/**
 * The code grant (contract section 5.3). Consuming the code and issuing the tokens are one transaction: if the
 * allowance refuses the request, the code stays valid; any other refusal of a live code consumes it.
 */
export class CodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #context: SessionContext;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  async run(request: GrantRequest): Promise<TokenPair> {
    const { mint } = this.#context;
    const code = request.form.require('code');
    // A forged code is rejected without a query.
    if (!mint.recognizes('code', code)) throw invalidCode('the code was not issued here');
    const outcome = await this.#redeem(hashToken(code), request);
    if (outcome === undefined) {
      await this.#handleCodeReuse(hashToken(code), request);
      throw invalidCode('the code is unknown, expired, used or belongs to another client');
    }
    await this.#record(outcome.tokens === undefined ? 'refused' : 'success', outcome.code, request);
    if (outcome.tokens === undefined) throw invalidCode(outcome.mismatch);
    return outcome.tokens;
  }

  /** @returns undefined if this client has no such live code */
  #redeem(codeHash: Buffer, { client, form }: GrantRequest): Promise<Redeemed | undefined> {
    const { database } = this.#context;
    return database.kysely.transaction().execute(async (transaction) => {
      const code = await consumeAuthorizationCode(transaction, codeHash, client.clientId);
      if (code === undefined) return undefined;
      const mismatch = findMismatch(code, client, form);
      if (mismatch !== undefined) return { code, tokens: undefined, mismatch };
      const grant = { ...code, codeHash, passwordHash: undefined };
      return { code, tokens: await issueInitialTokens(this.#context, grant, transaction) };
    });
  }

  /**
   * RFC 6749 section 4.1.2: a reused code may be stolen, so the tokens it issued are revoked. Another client can't
   * trigger that.
   */
  async #handleCodeReuse(codeHash: Buffer, { client, origin }: GrantRequest): Promise<void> {
    const { database, audit } = this.#context;
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
    return this.#context.audit.record({
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

function invalidCode(cause: string): InvalidGrant {
  return new InvalidGrant('The code is not valid', { cause });
}

interface RefreshGrantDependencies {
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
    if (!mint.recognizes('refresh', usedToken))
      throw invalidRefreshToken('the token was not issued here');
    const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
    const refreshed = await store.refresh({
      clientId: client.clientId,
      usedHash: hashToken(usedToken),
      accessHash: access.hash,
      refreshHash: refresh.hash,
    });
    if (refreshed) return { accessToken: access.text, refreshToken: refresh.text };
    await this.#recordReuse(usedToken, { client, form, origin });
    throw invalidRefreshToken(
      'the token was used, replaced or revoked, or belongs to another client',
    );
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

function invalidRefreshToken(cause: string): InvalidGrant {
  return new InvalidGrant('The refresh token is not valid', { cause });
}
