import { hash } from 'node:crypto';
import type { AccountId, ClientId, PersonId } from '../../base/values/ids.ts';
import { hashToken } from '../access/token-mint.ts';
import { type AuditEvent, type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import type { SessionContext } from '../session-context.ts';
import type { Form } from '../sign-in/form.ts';
import {
  type AuthorizationCode,
  consumeAuthorizationCode,
  findUsedCode,
} from './authorization-code-store.ts';
import type { GrantType, StoredIntegration } from './integration-store.ts';
import { OAuthError, SlowDown } from './oauth-errors.ts';
import { revokeCodeTokens } from './revoke-tokens-store.ts';
import {
  findPersonOfUsedToken,
  issueTokens,
  refreshTokens,
  secondsUntilAllowed,
} from './tokens-store.ts';

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
 * @throws SlowDown if the allowance is used up, OAuthError if the person changed in the meantime
 */
export async function issueInitialTokens(
  { database, mint }: Pick<SessionContext, 'database' | 'mint'>,
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
    throw invalidGrant('The grant is not valid', 'the person changed in the meantime');
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

/** @throws OAuthError if the grant is refused */
type Grant = (context: SessionContext, request: GrantRequest) => Promise<TokenPair>;

/** The grants by their type. */
export const grants: Readonly<Record<GrantType, Grant>> = {
  password: grantByPassword,
  authorization_code: grantByCode,
  refresh_token: grantByRefreshToken,
};

function record(
  { database }: SessionContext,
  { client, origin }: GrantRequest,
  event: Omit<AuditEvent, 'origin'>,
): Promise<void> {
  const { clientId, accountId } = client;
  return recordAuditEvent(database.kysely, { clientId, accountId, origin, ...event });
}

/**
 * The password grant (contract section 5.2). RFC 9700 section 2.4 advises against it; it is for in-house integrations
 * with a service user, and only if they are registered for it. Checks the password before the allowance, so that a 429 of the
 * allowance reveals nothing to an attacker.
 */
async function grantByPassword(context: SessionContext, request: GrantRequest): Promise<TokenPair> {
  const { client, form, origin } = request;
  const { clientId, accountId } = client;
  const kind = 'password_grant';
  const { person, claimed, needsProvider } = await context.passwordAuthenticator.authenticate(
    form.require('username'),
    form.require('password'),
    { kind: 'client', accountId, clientId, remoteAddress: origin.remoteAddress },
  );
  const refuse = (personId: PersonId | undefined, reason: string) =>
    record(context, request, { kind, outcome: 'refused', personId, detail: { reason } });
  if (person === undefined) {
    await refuse(claimed?.id, needsProvider ? 'needs_provider' : 'wrong_password');
    throw needsProvider
      ? invalidGrant('This user signs in with a provider; use a service user')
      : invalidGrant(
          'The user name or password is wrong',
          claimed === undefined ? 'unknown person' : 'wrong password or disabled person',
        );
  }
  const { id: personId, passwordHash } = person;
  try {
    // A password alone must not be worth more here than on the sign-in page.
    if (await context.secondFactors.has(personId))
      throw invalidGrant('This user has a second factor; use the code grant, or a service user');
    const proven = { personId, clientId, accountId: undefined, passwordHash, codeHash: undefined };
    const tokens = await issueInitialTokens(context, proven);
    await record(context, request, { kind, personId });
    return tokens;
  } catch (error) {
    if (error instanceof OAuthError) await refuse(personId, error.error);
    throw error;
  }
}

/**
 * The code grant (contract section 5.3). Consuming the code and issuing the tokens are one transaction: if the
 * allowance refuses the request, the code stays valid; any other refusal of a live code consumes it.
 */
async function grantByCode(context: SessionContext, request: GrantRequest): Promise<TokenPair> {
  const code = request.form.require('code');
  // A forged code is rejected without a query.
  if (!context.mint.recognizes('code', code)) throw invalidCode('the code was not issued here');
  const redeemed = await redeem(context, hashToken(code), request);
  if (redeemed === undefined) {
    await handleCodeReuse(context, hashToken(code), request);
    throw invalidCode('the code is unknown, expired, used or belongs to another client');
  }
  const { tokens, mismatch } = redeemed;
  const { personId, accountId } = redeemed.code;
  const outcome = tokens === undefined ? 'refused' : 'success';
  await record(context, request, { kind: 'code_grant', outcome, personId, accountId });
  if (tokens === undefined) throw invalidCode(mismatch);
  return tokens;
}

/** A code, and its tokens or why it doesn't match the request. */
type Redeemed = { readonly code: AuthorizationCode } & (
  | { readonly tokens: TokenPair; readonly mismatch?: never }
  | { readonly tokens?: never; readonly mismatch: string }
);

/** @returns undefined if this client has no such live code */
function redeem(
  context: SessionContext,
  codeHash: Buffer,
  { client, form }: GrantRequest,
): Promise<Redeemed | undefined> {
  return context.database.kysely.transaction().execute(async (transaction) => {
    const code = await consumeAuthorizationCode(transaction, codeHash, client.clientId);
    if (code === undefined) return undefined;
    const mismatch = redirectMismatch(code, form) ?? verifierMismatch(code, client, form);
    if (mismatch !== undefined) return { code, mismatch };
    const grant = { ...code, codeHash, passwordHash: undefined };
    return { code, tokens: await issueInitialTokens(context, grant, transaction) };
  });
}

/**
 * RFC 6749 section 4.1.2: a reused code may be stolen, so the tokens it issued are revoked. Another client can't
 * trigger that.
 */
async function handleCodeReuse(
  context: SessionContext,
  codeHash: Buffer,
  request: GrantRequest,
): Promise<void> {
  const { kysely } = context.database;
  const usedCode = await findUsedCode(kysely, codeHash);
  if (usedCode === undefined) return;
  if (usedCode.clientId === request.client.clientId)
    await kysely.transaction().execute((transaction) => revokeCodeTokens(transaction, codeHash));
  const { personId } = usedCode;
  await record(context, request, { kind: 'grant_code_reused', outcome: 'refused', personId });
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
  if (code.codeChallenge === null) {
    if (client.requirePkce) return 'PKCE became required after the code was issued';
    return verifier === undefined ? undefined : 'code_verifier without code_challenge';
  }
  if (verifier === undefined) return 'code_verifier is missing';
  const matches =
    verifierPattern.test(verifier) && hash('sha256', verifier, 'base64url') === code.codeChallenge;
  return matches ? undefined : 'code_verifier differs';
}

function invalidGrant(message: string, cause?: string): OAuthError {
  return new OAuthError('invalid_grant', message, { cause });
}

function invalidCode(cause: string): OAuthError {
  return invalidGrant('The code is not valid', cause);
}

/**
 * The refresh grant (contract section 5.4): exchanges the pair's single live refresh token for a new pair of tokens.
 * It neither counts toward the allowance nor is refused by it.
 */
async function grantByRefreshToken(
  context: SessionContext,
  request: GrantRequest,
): Promise<TokenPair> {
  const { mint, database } = context;
  const { client, form } = request;
  const message = 'The refresh token is not valid';
  const usedToken = form.require('refresh_token');
  // A forged token is rejected without a query.
  if (!mint.recognizes('refresh', usedToken))
    throw invalidGrant(message, 'the token was not issued here');
  const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
  const usedHash = hashToken(usedToken);
  const refreshed = await refreshTokens(database.kysely, {
    clientId: client.clientId,
    usedHash,
    accessHash: access.hash,
    refreshHash: refresh.hash,
  });
  if (refreshed) return { accessToken: access.text, refreshToken: refresh.text };
  // A genuine token that is not live was used or replaced before, so it may be stolen (RFC 9700 section 4.14.2). The
  // live one stays valid, as section 5.1 rule 4 of the contract says; the audit log records the event.
  const personId = await findPersonOfUsedToken(database.kysely, usedHash);
  await record(context, request, { kind: 'refresh_token_reused', outcome: 'refused', personId });
  throw invalidGrant(
    message,
    'the token was used, replaced or revoked, or belongs to another client',
  );
}
