import type { Authenticator } from '../../accounts/access/access-module.ts';
import type { AccessFacts, Refusal } from '../../accounts/access/authorize.ts';
import { authorize } from '../../accounts/access/authorize.ts';
import type { Permission } from '../../accounts/access/permission.ts';
import { clientIdOf, type Principal } from '../../accounts/access/principal.ts';
import type { TokenOperation } from '../../accounts/access/token-operations.ts';
import type { Account } from '../../accounts/account/account.ts';
import { Fault } from '../../base/values/errors.ts';
import type { ClientId, TemplateId } from '../../base/values/ids.ts';
import { andThen, type MaybePromise } from '../../base/values/maybe-promise.ts';
import { testClass } from '../../content/message/test-class.ts';
import { unauthorized } from '../../host/http/bearer-token.ts';

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

/** The account that sends, and for whom. */
export interface SendingCaller {
  readonly account: Account;
  /** Integration of the access token, id of the API key, or the console. */
  readonly clientId: ClientId;
  /** It has a test key: what it sends goes to the account's inbox only, and counts nowhere. */
  readonly isTest: boolean;
}

/** The right to send content that isn't made from a template of the account. Only an admission has it. */
class RawRight implements SendingCaller {
  // The private member makes the class nominal, so no literal passes for a right.
  readonly #admission: SendAdmission;

  constructor(admission: SendAdmission) {
    this.#admission = admission;
  }

  get account(): Account {
    return this.#admission.account;
  }

  get clientId(): ClientId {
    return this.#admission.clientId;
  }

  get isTest(): boolean {
    return this.#admission.isTest;
  }
}

/** What an admitted caller may send. */
class SendAdmission implements SendingCaller {
  readonly account: Account;
  readonly clientId: ClientId;
  readonly isTest: boolean;
  readonly #templates: ReadonlySet<TemplateId> | undefined;
  readonly #mayWrite: boolean;

  /**
   * @param templates the only ones that the caller may use; undefined: all
   * @param mayWrite it may also send content of its own
   */
  constructor(
    { account, clientId, isTest }: SendingCaller,
    templates: ReadonlySet<TemplateId> | undefined,
    mayWrite: boolean,
  ) {
    this.account = account;
    this.clientId = clientId;
    this.isTest = isTest;
    this.#templates = templates;
    this.#mayWrite = mayWrite;
  }

  mayUse(templateId: TemplateId): boolean {
    return this.#templates?.has(templateId) !== false;
  }

  /** The same, as with a test key. */
  get forTest(): SendAdmission {
    const { account, clientId } = this;
    return new SendAdmission({ account, clientId, isTest: true }, this.#templates, this.#mayWrite);
  }

  /** Undefined if the caller may send with templates only. */
  get raw(): RawRight | undefined {
    return this.#mayWrite && this.#templates === undefined ? new RawRight(this) : undefined;
  }
}

export type { RawRight, SendAdmission };

/** How long a caller's messages are kept. */
export function retentionDaysOf({ account, isTest }: SendingCaller): number {
  return isTest ? testClass : account.retentionDays;
}

/** The admission of the service itself, for its own mail and for the rows of an account's outboxes. */
export function admitService(caller: Omit<SendingCaller, 'isTest'>): SendAdmission {
  return new SendAdmission({ ...caller, isTest: false }, undefined, false);
}

/**
 * Sending content that isn't made from a stored template. Access tokens have no such permission: a third party may hold one, and
 * whoever consented to it was told of the account's templates.
 */
const contentOperation = { permission: 'messages:send-content' } as const;

/**
 * The first three checks for a caller who sends content of its own, as over SMTP.
 * @throws Fault as `admitCaller` does
 */
export function admitWriter(
  dependencies: AdmissionDependencies,
  head: RequestHead,
): MaybePromise<RawRight> {
  return andThen(admitCaller(dependencies, contentOperation, head), ({ raw }) => {
    if (raw === undefined) throw toFault('insufficient-permission');
    return raw;
  });
}

/**
 * First three checks of every account operation: 1 a valid token or key; 2 a known account the caller belongs to, with
 * the required permission; 3 unless it only reads, the account isn't suspended.
 * @throws Fault UNAUTHORIZED, INVALID_ID or ACCOUNT_SUSPENDED
 */
export function admitCaller(
  dependencies: AdmissionDependencies,
  operation: Pick<TokenOperation, 'permission'>,
  head: RequestHead,
): MaybePromise<SendAdmission> {
  const { authorization, accountText, remoteAddress } = head;
  return andThen(dependencies.authenticator.authenticate(authorization), (principal) => {
    if (principal === undefined) throw unauthorized(authorization);
    const decision = authorize(dependencies.facts, principal, {
      api: 'contract',
      access: operation.permission,
      accountText,
      remoteAddress,
    });
    return andThen(decision, ({ refusal, account, granted }) => {
      if (refusal !== undefined) throw toFault(refusal);
      if (account === undefined) throw new Error('the decision has no account');
      return admissionOf(principal, account, granted);
    });
  });
}

/**
 * What a caller who passed the checks may send.
 * @param granted all that the caller is permitted in the account
 */
export function admissionOf(
  principal: Principal,
  account: Account,
  granted: ReadonlySet<Permission>,
): SendAdmission {
  const key = principal.kind === 'key' ? principal : undefined;
  const caller = { account, clientId: clientIdOf(principal), isTest: key?.mode === 'test' };
  return new SendAdmission(caller, key?.templates, granted.has('messages:send-content'));
}

/** The contract has no 403, so a missing permission is a 401 that says so (RFC 6750 section 3.1). */
function toFault(refusal: Refusal): Fault {
  if (refusal === 'unknown-account' || refusal === 'malformed-account')
    return new Fault('INVALID_ID', {
      details: [{ field: 'accountId', reason: 'is not an account of this token' }],
    });
  if (refusal === 'suspended') return new Fault('ACCOUNT_SUSPENDED');
  return new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
}
