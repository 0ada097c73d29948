import type { BlockList } from 'node:net';
import { isListed, toBlockList } from '../../base/network/ip-address.ts';
import { type AccountId, type PersonId, parseAccountId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { AccessPolicy, Account, Membership, Role } from '../account/account.ts';
import { doesReach } from '../account/reach.ts';
import {
  type Access,
  onlyReads,
  type PageAccess,
  type Permission,
  permissionsOf,
} from './permission.ts';
import type { InboxReader, Principal } from './principal.ts';
import { tokenPermissions } from './token-operations.ts';

/** What a request wants to do. */
export interface Operation {
  /** Access tokens are accepted for operations of the contract only. */
  readonly api: 'contract' | 'management';
  readonly access: Access | PageAccess;
  /** The account ID in the path; undefined if the path has none. */
  readonly accountText?: string | undefined;
  /** People must have confirmed who they are in the last minutes (ASVS 3.7.1); keys needn't. */
  readonly confirmed?: boolean | undefined;
  /** It only takes away what the account has, so it's permitted in a suspended account too. */
  readonly leaving?: boolean | undefined;
  /** The client address; read only for keys limited to networks. */
  readonly remoteAddress: () => string;
}

/** Seconds for which a confirmation counts before sensitive changes (ASVS 3.7.1). */
export const confirmationSeconds = 600;

/** What the installation's settings say about signing in. */
export interface SignInSettings {
  /** Whether operators need a second factor. */
  readonly operatorSecondFactor: boolean;
  /** The installation's sign-in provider; undefined: none. */
  readonly provider:
    | { readonly issuer: string; readonly onlyProvider?: boolean | undefined }
    | undefined;
}

/** The data that authorization needs. */
export interface AccessFacts extends SignInSettings {
  account(accountId: AccountId): MaybePromise<Account | undefined>;
  membership(personId: PersonId, accountId: AccountId): MaybePromise<Membership | undefined>;
  isOperator(personId: PersonId): MaybePromise<boolean>;
}

/** Why a request is refused; the first reason that applies. */
export type Refusal =
  | 'unauthenticated'
  /** An access token was used for something other than an operation of the contract. */
  | 'token-not-accepted'
  | 'outside-networks'
  /** Permitted, but the person must confirm who they are first. */
  | 'unconfirmed'
  /** Permitted, but the account or the installation requires a second factor. */
  | 'second-factor-missing'
  /** Permitted, but the account requires people to sign in with a provider. */
  | 'single-sign-on-missing'
  | 'not-operator'
  /** The session comes from an account's provider, and this isn't the account's. */
  | 'bound-to-account'
  | 'malformed-account'
  /** The account doesn't exist or the principal has no access to it; callers can't tell which. */
  | 'unknown-account'
  | 'insufficient-permission'
  /** Permitted, but the account is suspended, so it can only be read and left. */
  | 'suspended';

export type Decision =
  | { readonly refusal: Refusal; readonly account?: never; readonly granted?: never }
  | {
      readonly refusal?: never;
      /** Undefined if the operation names none, or an operator is about to create it. */
      readonly account: Account | undefined;
      /** All that the principal is permitted in the account, by role or scopes; empty for an operator. */
      readonly granted: ReadonlySet<Permission>;
    };

const nothing: ReadonlySet<Permission> = new Set();
const withoutAccount: Decision = Object.freeze({ account: undefined, granted: nothing });

/**
 * Decides whether a principal may perform an operation now. All access decisions of the contract, the management API and
 * the pages are made here (ASVS 4.0.3 section 4.1.1).
 * @returns a promise only if the database is queried
 */
export function authorize(
  facts: AccessFacts,
  principal: Principal | InboxReader | undefined,
  operation: Operation,
): MaybePromise<Decision> {
  const decision = permit(facts, principal, operation);
  const isUnconfirmed =
    principal?.kind === 'person' && principal.confirmedAgo >= confirmationSeconds;
  if (operation.confirmed !== true || !isUnconfirmed) return decision;
  return decision instanceof Promise
    ? decision.then(refuseUnconfirmed)
    : refuseUnconfirmed(decision);
}

/** Only callers with the permission learn what is missing. */
function refuseUnconfirmed(decision: Decision): Decision {
  return decision.refusal === undefined ? refuse('unconfirmed') : decision;
}

function permit(
  facts: AccessFacts,
  principal: Principal | InboxReader | undefined,
  operation: Operation,
): MaybePromise<Decision> {
  const { api, access, accountText, remoteAddress, leaving } = operation;
  if (access === 'public') return withoutAccount;
  if (principal === undefined) return refuse('unauthenticated');
  if (principal.kind === 'inbox-reader')
    return access === 'inbox' ? withoutAccount : refuse('not-operator');
  if (principal.kind === 'token' && api !== 'contract') return refuse('token-not-accepted');
  if (isOutsideNetworks(principal, remoteAddress)) return refuse('outside-networks');
  if (access === 'signed-in') return withoutAccount;
  if (access === 'full-reach')
    return principal.reach === 'all' ? withoutAccount : refuse('bound-to-account');
  const accountId = accountText === undefined ? undefined : parseAccountId(accountText);
  // All captured mail includes the service's own, whose links open every account.
  if (access === 'operate' || access === 'inbox')
    return authorizeOperator(facts, principal, accountText, accountId);
  if (accountId === undefined) return refuse('malformed-account');
  const account = facts.account(accountId);
  const standing = standingIn(facts, principal, accountId);
  const caller = { principal, remoteAddress, leaving };
  if (account instanceof Promise || standing instanceof Promise)
    return Promise.all([account, standing]).then(([found, known]) =>
      decide(facts, found, known, access, caller),
    );
  return decide(facts, account, standing, access, caller);
}

/** What a principal may do in an account, and whose provider has to vouch for it. */
interface Standing extends Pick<Membership, 'grantedBy'> {
  readonly granted: ReadonlySet<Permission>;
}

function standingIn(
  facts: Pick<AccessFacts, 'membership'>,
  principal: Principal,
  accountId: AccountId,
): MaybePromise<Standing | undefined> {
  if (!doesReach(principal.reach, accountId)) return undefined;
  if (principal.kind === 'key') return { granted: principal.scopes, grantedBy: undefined };
  const grants = principal.kind === 'token' ? tokenPermissionsOf : permissionsOf;
  const toStanding = (member: Membership | undefined): Standing | undefined =>
    member && { granted: grants[member.role], grantedBy: member.grantedBy };
  const member = facts.membership(principal.personId, accountId);
  return member instanceof Promise ? member.then(toStanding) : toStanding(member);
}

/**
 * The permissions of a principal in an account; undefined if it has no access to it.
 * @returns a promise only if the database is queried
 */
export function grantedPermissions(
  facts: Pick<AccessFacts, 'membership'>,
  principal: Principal,
  accountId: AccountId,
): MaybePromise<ReadonlySet<Permission> | undefined> {
  const standing = standingIn(facts, principal, accountId);
  return standing instanceof Promise ? standing.then((found) => found?.granted) : standing?.granted;
}

/** The permissions of a token by its user's role: those of tokens that the role has too. */
const tokenPermissionsOf = Object.fromEntries(
  Object.entries(permissionsOf).map(([role, granted]) => [
    role,
    new Set([...granted].filter((permission) => tokenPermissions.has(permission))),
  ]),
) as unknown as Readonly<Record<Role, ReadonlySet<Permission>>>;

function decide(
  facts: AccessFacts,
  account: Account | undefined,
  standing: Standing | undefined,
  permission: Permission,
  caller: Caller,
): MaybePromise<Decision> {
  if (account === undefined || standing === undefined) return refuse('unknown-account');
  const { granted } = standing;
  if (!granted.has(permission)) return refuse('insufficient-permission');
  const { policy } = account;
  const refusal = policy && refusalByPolicy(policy, granted, caller);
  if (refusal !== undefined) return refuse(refusal);
  const decision: Decision =
    account.suspended && !onlyReads(permission) && caller.leaving !== true
      ? refuse('suspended')
      : { account, granted };
  const needsProvider =
    !hasProof(facts, standing, caller) ||
    (policy?.signIn === 'single-sign-on' && isPasswordSignIn(granted, caller));
  return needsProvider ? decideForOperator(facts, decision, caller) : decision;
}

/**
 * Whoever came by a provider leaves with it: only a sign-in with the provider that granted a membership counts for it, since
 * no other one notices that the provider has ended it. Tokens of the code grant come from such a sign-in.
 */
function hasProof(
  facts: Pick<SignInSettings, 'provider'>,
  { grantedBy }: Standing,
  { principal }: Caller,
): boolean {
  if (grantedBy === 'account') return principal.reach !== 'all';
  if (grantedBy === undefined || facts.provider === undefined) return true;
  return principal.kind === 'person'
    ? principal.byProvider && principal.reach === 'all'
    : principal.reach !== 'all';
}

/** A person without a provider, or a program with the password of a user who isn't a service user. */
function isPasswordSignIn(granted: ReadonlySet<Permission>, { principal }: Caller): boolean {
  if (principal.kind === 'key') return false;
  if (principal.kind === 'person')
    return !principal.byProvider && granted !== permissionsOf.service;
  // Tokens of the code grant are bound to an account; the person consented in a browser.
  return principal.reach === 'all' && granted !== tokenPermissionsOf.service;
}

/** Operators can still sign in while the provider is down. */
async function decideForOperator(
  facts: AccessFacts,
  decision: Decision,
  { principal }: Caller,
): Promise<Decision> {
  const isOperator = principal.kind !== 'key' && (await facts.isOperator(principal.personId));
  return isOperator ? decision : refuse('single-sign-on-missing');
}

interface Caller extends Pick<Operation, 'remoteAddress' | 'leaving'> {
  readonly principal: Principal;
}

/** What an account requires beyond the role. */
function refusalByPolicy(
  policy: AccessPolicy,
  granted: ReadonlySet<Permission>,
  { principal, remoteAddress }: Caller,
): Refusal | undefined {
  const networks = principal.kind === 'person' ? policy.peopleNetworks : policy.programNetworks;
  if (networks.length > 0 && !isListed(listOf(networks), remoteAddress()))
    return 'outside-networks';
  if (principal.kind !== 'person') return undefined;
  const { secondFactor, signInHours } = policy;
  const needsSecondFactor =
    secondFactor === 'everyone'
      ? granted !== permissionsOf.service
      : secondFactor === 'owners' && granted === permissionsOf.owner;
  if (needsSecondFactor && !principal.hasSecondFactor) return 'second-factor-missing';
  return signInHours !== undefined && principal.confirmedAgo >= signInHours * 3_600
    ? 'unconfirmed'
    : undefined;
}

/** Parsed once for each state of an account. */
const blockLists = new WeakMap<readonly string[], BlockList>();

function listOf(networks: readonly string[]): BlockList {
  const known = blockLists.get(networks) ?? toBlockList(networks);
  blockLists.set(networks, known);
  return known;
}

/** Only people in a browser can operate the installation. */
async function authorizeOperator(
  facts: AccessFacts,
  principal: Principal,
  accountText: string | undefined,
  accountId: AccountId | undefined,
): Promise<Decision> {
  // Owners of an account choose its provider, so it can't make operators.
  const canOperate =
    principal.kind === 'person' &&
    principal.reach === 'all' &&
    (await facts.isOperator(principal.personId));
  if (!canOperate) return refuse('not-operator');
  if (facts.operatorSecondFactor && !principal.hasSecondFactor)
    return refuse('second-factor-missing');
  if (accountText === undefined) return withoutAccount;
  if (accountId === undefined) return refuse('malformed-account');
  return { account: await facts.account(accountId), granted: nothing };
}

function isOutsideNetworks(principal: Principal, remoteAddress: () => string): boolean {
  if (principal.kind !== 'key' || principal.networks === undefined) return false;
  return !isListed(principal.networks, remoteAddress());
}

function refuse(refusal: Refusal): Decision {
  return { refusal };
}
