import type { Authenticator } from '../access/authenticator.ts';
import type { AccessFacts, Decision, Refusal } from '../access/authorize.ts';
import { authorize } from '../access/authorize.ts';
import type { BearerPrincipal } from '../access/principal.ts';
import type { TokenOperation } from '../access/token-operations.ts';
import type { Account } from '../account/account.ts';
import { Fault } from '../foundation/errors.ts';
import type { ClientId, TemplateId } from '../foundation/ids.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { unauthorized } from '../http/unauthorized.ts';

export interface AdmissionDependencies {
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  readonly facts: AccessFacts;
}

/** The parts of a request head needed to admit it. */
export interface RequestHead {
  readonly authorization: string | undefined;
  /** Account id from the path. */
  readonly accountText: string;
  readonly remoteAddress: () => string;
}

/** The account from the path, and whom the caller acts for. */
export interface SendAdmission {
  readonly account: Account;
  /** Integration of the access token, or id of the API key. */
  readonly clientId: ClientId;
  /** Templates the caller may send with; undefined for all. */
  readonly templates: ReadonlySet<TemplateId> | undefined;
}

/**
 * First two checks of every account operation: 1 a valid token or key; 2 a known account the caller belongs to, with
 * the required permission.
 * @throws Fault UNAUTHORIZED or INVALID_ID
 */
export function admitCaller(
  dependencies: AdmissionDependencies,
  operation: TokenOperation,
  head: RequestHead,
): MaybePromise<SendAdmission> {
  const principal = dependencies.authenticator.authenticate(head.authorization);
  return principal instanceof Promise
    ? principal.then((found) => admit(dependencies, operation, head, found))
    : admit(dependencies, operation, head, principal);
}

function admit(
  { facts }: AdmissionDependencies,
  operation: TokenOperation,
  { authorization, accountText, remoteAddress }: RequestHead,
  principal: BearerPrincipal | undefined,
): MaybePromise<SendAdmission> {
  if (principal === undefined) throw unauthorized(authorization);
  const decision = authorize(facts, principal, {
    api: 'contract',
    access: operation.permission,
    accountText,
    remoteAddress,
  });
  return decision instanceof Promise
    ? decision.then((made) => toAdmission(made, principal))
    : toAdmission(decision, principal);
}

function toAdmission({ refusal, account }: Decision, principal: BearerPrincipal): SendAdmission {
  if (refusal !== undefined) throw toFault(refusal);
  if (account === undefined) throw new Error('the decision has no account');
  return principal.kind === 'key'
    ? { account, clientId: principal.keyId as ClientId, templates: principal.templates }
    : { account, clientId: principal.clientId, templates: undefined };
}

/** The contract has no 403, so a missing permission is a 401 that says so (RFC 6750 section 3.1). */
function toFault(refusal: Refusal): Fault {
  if (refusal === 'unknown-account' || refusal === 'malformed-account')
    return new Fault('INVALID_ID', {
      details: [{ field: 'accountId', reason: 'is not an account of this token' }],
    });
  return new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
}
