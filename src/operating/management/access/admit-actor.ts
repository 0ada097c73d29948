import type { FastifyRequest } from 'fastify';
import {
  type AccessFacts,
  authorize,
  type Decision,
  type Operation,
  grantedPermissions as permissionsByFacts,
  type Refusal,
} from '../../../accounts/access/authorize.ts';
import { type Access, type Permission, peopleOnly } from '../../../accounts/access/permission.ts';
import type { InboxReader, Principal } from '../../../accounts/access/principal.ts';
import type { Account } from '../../../accounts/account/account.ts';
import { readMemberships } from '../../../accounts/account/membership-store.ts';
import { principalOf } from '../../../accounts/sign-in/browser/browser-session-store.ts';
import { findSignInLink } from '../../../accounts/sign-in/single-sign-on/account-provider-store.ts';
import { providerSignInPath } from '../../../accounts/sign-in/single-sign-on/sign-in-provider.ts';
import { type AccountId, parseAccountId } from '../../../base/values/ids.ts';
import { isSameOrigin } from '../../../host/http/same-origin.ts';
import { forbidden, notFound, Problem, type ProblemCode } from '../answer/problem.ts';
import type { ManagementDependencies } from '../management-dependencies.ts';
import { malformedParam } from '../path-params.ts';

/** What a call needs. */
interface AdmissionRule extends Pick<Operation, 'confirmed' | 'leaving'> {
  readonly access: Access;
  /** The member of the body that needs it; undefined: the operation does. */
  readonly field?: string | undefined;
}

/** A call that passed the access checks. */
interface AdmittedCall {
  /** Undefined for a reader of the inbox, too. */
  readonly actor: Principal | undefined;
  /** The account of the path; undefined if the path has none or an operator is about to create it. */
  readonly account: Account | undefined;
  /** All that the actor is permitted in the account. */
  readonly granted: ReadonlySet<Permission>;
}

/**
 * Authorizes a call: 401 for unauthenticated callers, 404 for accounts the caller isn't a member of, existing or not, and
 * 403 if the role or scopes don't permit it.
 * @param accountText the account ID as in the path
 */
export async function admitActor(
  dependencies: ManagementDependencies,
  actor: Principal | InboxReader | undefined,
  { access, confirmed, leaving, field }: AdmissionRule,
  accountText: string | undefined,
  request: Pick<FastifyRequest, 'ip'>,
): Promise<AdmittedCall> {
  const decision = await authorize(factsOf(dependencies), actor, {
    api: 'management',
    access,
    accountText,
    confirmed,
    leaving,
    remoteAddress: () => request.ip,
  });
  if (isRefused(decision)) {
    const { refusal } = decision;
    throw refusal === 'single-sign-on-missing'
      ? await toProviderProblem(dependencies, accountText)
      : toProblem(refusal, access, field);
  }
  const principal = actor?.kind === 'inbox-reader' ? undefined : actor;
  return { actor: principal, account: decision.account, granted: decision.granted };
}

/** Whether a principal can operate the installation. */
export async function canOperate(
  dependencies: ManagementDependencies,
  actor: Principal,
): Promise<boolean> {
  return (await findOperatorProblem(dependencies, actor, '')) === undefined;
}

/**
 * Why a principal can't do what only operators can; undefined if it can.
 * @param detail what only operators can do, as a sentence
 */
export async function findOperatorProblem(
  dependencies: ManagementDependencies,
  actor: Principal,
  detail: string,
): Promise<Problem | undefined> {
  const { refusal } = await authorize(dependencies.access.facts, actor, {
    api: 'management',
    access: 'operate',
    remoteAddress: () => '',
  });
  if (refusal === undefined) return undefined;
  return refusal === 'not-operator' ? forbidden(detail) : toProblem(refusal, 'operate');
}

/** A caller's permissions in an account; undefined if the caller isn't a member. */
export async function actorPermissions(
  dependencies: ManagementDependencies,
  actor: Principal,
  accountId: AccountId,
): Promise<ReadonlySet<Permission> | undefined> {
  return permissionsByFacts(factsOf(dependencies), actor, accountId);
}

/** Falls back to the database, so a person who just created an account can use it before the cache knows about it. */
function factsOf({ access, database }: ManagementDependencies): AccessFacts {
  const { facts } = access;
  return {
    ...facts,
    membership: async (personId, accountId) =>
      (await facts.membership(personId, accountId)) ??
      (await readMemberships(database.kysely, { personId, reach: { accountId } }))[0],
  };
}

function isRefused(decision: Decision): decision is Extract<Decision, { refusal: Refusal }> {
  return decision.refusal !== undefined;
}

const singleSignOnDetail = 'This account requires single sign-on. Sign in with its provider';

/** Says where to sign in instead; only members of the account get here. */
async function toProviderProblem(
  { database }: ManagementDependencies,
  accountText: string | undefined,
): Promise<Problem> {
  const accountId = parseAccountId(accountText ?? '');
  const link = accountId && (await findSignInLink(database.kysely, accountId));
  return new Problem('single-sign-on-required', singleSignOnDetail, {
    extra: { signInPath: providerSignInPath({ link }) },
  });
}

/** Refusals that have the same answer wherever they occur. */
const refusalProblems: Readonly<
  Record<
    Exclude<Refusal, 'malformed-account' | 'unknown-account' | 'insufficient-permission'>,
    readonly [ProblemCode, string]
  >
> = {
  unauthenticated: ['unauthenticated', 'Send an API key as a Bearer token, or sign in'],
  'token-not-accepted': [
    'forbidden',
    'Access tokens only work for the send, status and list operations. Use an API key or sign in',
  ],
  'outside-networks': ['forbidden', 'The account or the API key can’t be used from this network'],
  'second-factor-missing': [
    'second-factor-required',
    'Add a passkey or an authenticator app at /me/second-factor, then sign in with it',
  ],
  'single-sign-on-missing': ['single-sign-on-required', singleSignOnDetail],
  unconfirmed: [
    'confirmation-required',
    'Confirm who you are at /sign-in/confirm, then repeat the request within 10 minutes',
  ],
  'bound-to-account': ['forbidden', 'Sign in with your password or a passkey to do this'],
  'not-operator': ['forbidden', 'Only operators of the installation can do this'],
  suspended: [
    'forbidden',
    'The account is suspended: you can only read it, and delete from it. Ask an operator to end the suspension',
  ],
};

function toProblem(refusal: Refusal, access: Access, field?: string): Problem {
  if (refusal === 'malformed-account') return malformedParam('accountId');
  if (refusal === 'unknown-account') return notFound('account');
  if (refusal === 'insufficient-permission') return toPermissionProblem(access, field);
  return new Problem(...refusalProblems[refusal]);
}

function toPermissionProblem(access: Access, field: string | undefined): Problem {
  const isForPeople = (peopleOnly as readonly Access[]).includes(access);
  const fix = isForPeople ? '. API keys can’t have it: change it in the console' : '';
  const reason = `requires the permission ${access} in the account${fix}`;
  return field === undefined
    ? forbidden(`This ${reason}`, { extra: { permission: access } })
    : forbidden(`A change of ${field} ${reason}, or omit ${field}`, {
        errors: [{ field, reason }],
        extra: { permission: access },
      });
}

const safeMethods = new Set(['GET', 'HEAD']);

/** Pages of other origins can't send this header without a CORS preflight (Fetch standard). */
export const consoleHeader = 'x-signalpost-request';

/**
 * Identifies the caller by the `Authorization` header, or else by a cookie.
 * @returns undefined for an unauthenticated caller
 * @throws Problem for a change that may be a cross-site request
 */
export async function identifyActor(
  { access: { authenticator }, browser, inboxReaders }: ManagementDependencies,
  request: FastifyRequest,
  access?: Access,
): Promise<Principal | InboxReader | undefined> {
  const { authorization } = request.headers;
  const reader = access === 'inbox' ? inboxReaders?.find(request) : undefined;
  if (authorization !== undefined) return reader ?? authenticator.authenticate(authorization);
  const person = reader === undefined ? await browser.findSignedIn(request) : undefined;
  const actor = reader ?? (person && principalOf(person));
  if (actor !== undefined && !safeMethods.has(request.method)) requireSameOriginPage(request);
  return actor;
}

/** Browsers attach the cookie to cross-site requests too (ASVS 4.2.2). */
function requireSameOriginPage(request: FastifyRequest): void {
  if (isSameOrigin(request) && request.headers[consoleHeader] !== undefined) return;
  throw new Problem(
    'foreign-request',
    'Changes authenticated by cookie require the X-Signalpost-Request header and the same origin',
  );
}
