import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import { Fault, type FaultCode } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { type AdmittedRequest, checkBeforeCommit, type OnParsed } from './check-message.ts';
import { type CheckedMessage, commitMessage, findReplay, type Receipt } from './commit-message.ts';
import { type IdempotencyKey, readIdempotencyKey, toTestKey } from './idempotency.ts';
import { parseLargeBody } from './read-large-json.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { type StatusRequest, statusRequestIn } from './status-link.ts';
import { traceAccept } from './trace-accept.ts';

/**
 * Checks 4 to 10 of the send operation; the first that fails decides the response. The key (4) is checked by the commit
 * (10) so that accepted requests need no extra query. Refused requests look it up before responding, so a replay or
 * mismatch still takes precedence.
 */
export function sendEmail(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
): Promise<Receipt> {
  const { idempotencyKey, rowKey, templateText, body, parsed, span } = admitted;
  const { id: accountId } = admitted.admission.account;
  return acceptMessage(dependencies, {
    accountId,
    isTest: admitted.admission.isTest,
    templateId: templateText,
    span,
    readKey:
      idempotencyKey === undefined
        ? rowKey && (() => rowKey)
        : () =>
            readIdempotencyKey(
              idempotencyKey,
              templateText,
              body instanceof Buffer ? body : undefined,
              parsed && 'idempotencyKey',
            ),
    check: (key, trace, onParsed) =>
      checkBeforeCommit(dependencies, admitted, key, trace, onParsed),
    readBody: () => parsed?.value ?? (body instanceof Buffer ? parseLargeBody(body).value : body),
  });
}

/** A message to accept, made from a template or complete. */
interface Acceptance {
  readonly accountId: AccountId;
  readonly isTest: boolean;
  readonly templateId: string;
  /** Of its request, if that is traced. */
  readonly span: TraceSpan | undefined;
  /** Undefined: it has no idempotency key. */
  readonly readKey: (() => MaybePromise<IdempotencyKey>) | undefined;
  readonly check: (
    key?: IdempotencyKey,
    trace?: TraceContext,
    onParsed?: OnParsed,
  ) => MaybePromise<CheckedMessage>;
  /** The value of the body, in the form of a send's, until the check has parsed it. Undefined: it can't ask for a status link. */
  readonly readBody?: () => unknown;
}

/** Checks and commits a message, in a span if its request is traced. */
export function acceptMessage(
  dependencies: SendDependencies,
  acceptance: Acceptance,
): Promise<Receipt> {
  const { span, readKey, check } = acceptance;
  return traceAccept(
    span,
    acceptance,
    // Most requests have no key; each async function on their way would keep its variables until the commit.
    (trace) =>
      readKey === undefined
        ? checkAndCommit(dependencies, () => check(undefined, trace))
        : acceptWithKey(dependencies, acceptance, readKey, (key, onParsed) =>
            check(key, trace, onParsed),
          ),
    ({ messageId }) => messageId,
  );
}

async function checkAndCommit(
  dependencies: SendDependencies,
  check: () => MaybePromise<CheckedMessage>,
  deadline?: number,
): Promise<Receipt> {
  const checking = check();
  const message = checking instanceof Promise ? await checking : checking;
  return commitMessage(dependencies, message, deadline);
}

/** Accepts what has an idempotency key, or finds what was accepted with it. */
async function acceptWithKey(
  dependencies: SendDependencies,
  { accountId, isTest, readBody }: Pick<Acceptance, 'accountId' | 'isTest' | 'readBody'>,
  readKey: () => MaybePromise<IdempotencyKey>,
  check: (key: IdempotencyKey, onParsed: OnParsed) => MaybePromise<CheckedMessage>,
): Promise<Receipt> {
  const reading = readKey();
  const given = reading instanceof Promise ? await reading : reading;
  const key = isTest ? toTestKey(given) : given;
  const deadline = dependencies.keys.deadline();
  const acquiring = dependencies.keys.acquire(accountId, key.text, deadline);
  const release = acquiring instanceof Promise ? await acquiring : acquiring;
  let readStatus = (): StatusRequest | undefined => statusRequestIn(readBody?.());
  // Attachments are decoded in their place, so the body can't be read again after that.
  const onParsed: OnParsed = (status) => {
    readStatus = () => status;
  };
  try {
    return await checkAndCommit(dependencies, () => check(key, onParsed), deadline);
  } catch (error) {
    if (!(error instanceof Fault && refusals.has(error.code))) throw error;
    const { statusLinks } = dependencies;
    const statusOf = () => statusLinks.for(accountId, readStatus());
    const replay = await findReplay(dependencies, accountId, key, statusOf);
    if (replay === undefined) throw error;
    return replay;
  } finally {
    release();
  }
}

/** Faults of checks 5 to 9, and the quota fault, which comes between 8 and 9. */
const refusals: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'INVALID_ID',
  'VALIDATION_FAILED',
  'SENDER_NOT_ALLOWED',
  'PERSONALIZATION_FAILURE',
  'QUOTA_EXCEEDED',
  'RECIPIENT_SUPPRESSED',
]);
