import { looksLikeApiKey } from '../../accounts/access/api-key.ts';
import { tokenOperations } from '../../accounts/access/token-operations.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import {
  type EmailAddress,
  needsSmtpUtf8,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { simulatedOutcome } from '../../base/values/simulated-address.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import {
  type AdmissionDependencies,
  admitCaller,
  type RawRight,
  type SendAdmission,
} from '../submission/admit-caller.ts';
import { type AttachmentSettings, attachmentLimitOf } from '../submission/check-attachments.ts';
import type { AdmittedRequest } from '../submission/check-message.ts';
import type { Receipt } from '../submission/commit-message.ts';
import type { CustomHeaderRules } from '../submission/custom-headers.ts';
import { hashInPieces } from '../submission/decode-base64.ts';
import type { RawMessage } from '../submission/send-raw.ts';
import { withTimeout } from '../submission/with-timeout.ts';
import { type SubmissionTrace, toRawMessage } from './raw-submission.ts';
import { type ControlValues, readControlFields } from './read-control-fields.ts';
import { readMessageHead, type SubmittedMessage } from './read-message-head.ts';
import { SubmissionRefusal } from './submission-replies.ts';
import { toTemplateRequest } from './template-submission.ts';

/** Whether an account doesn't send to an address. */
interface RecipientSuppression {
  /** Only transactional messages are sent. */
  readonly unsubscribed: boolean;
  /** No message is sent. */
  readonly blocked: boolean;
}

export interface SessionDependencies {
  readonly admission: AdmissionDependencies;
  readonly attachmentSettings: AttachmentSettings;
  /** @param address normalized */
  readonly findSuppression: (
    accountId: AccountId,
    address: string,
  ) => Promise<RecipientSuppression | undefined>;
  readonly send: (request: AdmittedRequest) => Promise<Receipt>;
  readonly sendRaw: (right: RawRight, message: RawMessage) => Promise<Receipt>;
  readonly headerRules: Pick<CustomHeaderRules, 'isReserved'>;
}

interface Login {
  readonly accountText: string;
  readonly authorization: string;
}

/** Wrong passwords in a session; a client has the same one for all attempts. */
const maxWrongLogins = 3;

/** What a client does between connecting and QUIT: the rules of submission, without the protocol. */
export class SubmissionSession {
  readonly #dependencies: SessionDependencies;
  readonly #remoteAddress: string;
  #login: Login | undefined;
  #wrongLogins = 0;
  /** Recipients of the current message who get only transactional messages. */
  readonly #unsubscribed = new Set<string>();

  constructor(dependencies: SessionDependencies, remoteAddress: string) {
    this.#dependencies = dependencies;
    this.#remoteAddress = remoteAddress;
  }

  /**
   * Logs in with an account ID and one of its API keys (RFC 4954), which may send. The key is checked where HTTP requests
   * are.
   * @throws Fault or SubmissionRefusal
   */
  async login(accountText: string, password: string): Promise<SendAdmission> {
    if (this.#wrongLogins >= maxWrongLogins) throw new SubmissionRefusal('tooManyLogins');
    try {
      // Other credentials expire within minutes, so no program can be set up with them.
      if (!looksLikeApiKey(password)) throw new SubmissionRefusal('keyRequired');
      const login = { accountText, authorization: `Bearer ${password}` };
      const admission = await this.#admit(login);
      this.#login = login;
      return admission;
    } catch (error) {
      throw this.#toLoginError(error);
    }
  }

  #toLoginError(error: unknown): unknown {
    if (error instanceof Fault && error.code === 'IO_EXCEPTION')
      return new SubmissionRefusal('loginUnavailable');
    if (!(error instanceof Fault || error instanceof SubmissionRefusal))
      return new SubmissionRefusal('loginUnavailable');
    this.#wrongLogins += 1;
    if (!(error instanceof Fault)) return error;
    // The account is that of the key, or the password is wrong.
    if (error.code === 'INVALID_ID') return new Fault('UNAUTHORIZED');
    return error.challenge === 'insufficient_scope'
      ? new SubmissionRefusal('permissionMissing')
      : error;
  }

  /**
   * Checks the key again, as for each request over HTTP: it may have been deleted since the login.
   * @throws Fault UNAUTHORIZED or ACCOUNT_SUSPENDED
   */
  async admit(): Promise<SendAdmission> {
    if (this.#login === undefined) throw new SubmissionRefusal('loginRequired');
    return this.#admit(this.#login);
  }

  async #admit({ accountText, authorization }: Login): Promise<SendAdmission> {
    return withTimeout(
      admitCaller(this.#dependencies.admission, tokenOperations.send, {
        authorization,
        accountText,
        remoteAddress: () => this.#remoteAddress,
      }),
    );
  }

  /**
   * Begins a message.
   * @returns max bytes of it: what a request over HTTP can have
   */
  async beginMessage(): Promise<number> {
    this.#unsubscribed.clear();
    const { account } = await this.admit();
    return sendBodyBytes + attachmentLimitOf(account, this.#dependencies.attachmentSettings);
  }

  /**
   * Checks a recipient as far as that is possible before the message is known.
   * @param allowsUtf8 the client announced SMTPUTF8 (RFC 6531)
   * @throws Fault RECIPIENT_SUPPRESSED or SubmissionRefusal
   */
  async checkRecipient(text: string, allowsUtf8: boolean): Promise<void> {
    const parsed = parseEmailAddress(text);
    if (!parsed.ok) throw new SubmissionRefusal('badRecipient', `it ${parsed.reason}`);
    const { address } = parsed;
    if (needsSmtpUtf8(address) && !allowsUtf8)
      throw new SubmissionRefusal('internationalRecipient');
    if (simulatedOutcome(address) === 'suppressed') throw new Fault('RECIPIENT_SUPPRESSED');
    const { account } = await this.admit();
    const normalized = normalizeAddress(address);
    const found = await withTimeout(this.#dependencies.findSuppression(account.id, normalized));
    if (found === undefined) return;
    const canBeTransactional = account.addOns.has('transactional');
    if (found.blocked || (found.unsubscribed && !canBeTransactional))
      throw new Fault('RECIPIENT_SUPPRESSED');
    if (found.unsubscribed) this.#unsubscribed.add(normalized);
  }

  /**
   * Accepts a message for all its recipients or none.
   * @param recipientTexts addresses that `checkRecipient` let pass
   * @param trace for a message that is sent as it came
   * @param span of its receipt, if that is traced
   * @returns once it is committed and flushed
   * @throws Fault or SubmissionRefusal
   */
  async submit(
    source: Buffer,
    recipientTexts: readonly string[],
    trace: SubmissionTrace,
    span?: TraceSpan,
  ): Promise<Receipt> {
    const recipients = readRecipients(recipientTexts);
    const admission = await this.admit();
    const message = readMessageHead(source);
    const control = readControlFields(message.fields);
    this.#refuseUnsubscribed(control, recipients);
    const idempotencyKey = await makeSubmissionKey(message, recipients, control.idempotencyKey);
    const submission = { message, control, recipients, idempotencyKey };
    const { send, sendRaw, headerRules } = this.#dependencies;
    const { template } = control;
    try {
      if (template !== undefined)
        return await send({ ...toTemplateRequest(submission, admission, template), span });
      const { raw } = admission;
      if (raw === undefined) throw new SubmissionRefusal('contentNotPermitted');
      return await sendRaw(raw, { ...toRawMessage(submission, trace, headerRules), span });
    } catch (error) {
      throw toSubmitError(error, recipients);
    }
  }

  /** RCPT couldn't refuse them, because the message was still unknown. */
  #refuseUnsubscribed({ transactional }: ControlValues, recipients: readonly EmailAddress[]): void {
    if (transactional) return;
    const refused = recipients.filter((address) =>
      this.#unsubscribed.has(normalizeAddress(address)),
    );
    if (refused.length === 0) return;
    throw new Fault('RECIPIENT_SUPPRESSED', {
      details: [{ field: refused.join(', '), reason: 'unsubscribed; send to the others only' }],
    });
  }
}

/** Distinct, sorted addresses, so a repeated message is the same request whatever the order of its commands. */
function readRecipients(texts: readonly string[]): readonly [EmailAddress, ...EmailAddress[]] {
  const byAddress = new Map<string, EmailAddress>();
  for (const text of texts) {
    const parsed = parseEmailAddress(text);
    if (parsed.ok) byAddress.set(normalizeAddress(parsed.address), parsed.address);
  }
  const [first, ...others] = [...byAddress].sort(byKey).map(([, address]) => address);
  if (first === undefined) throw new SubmissionRefusal('badRecipient');
  return [first, ...others];
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** A recipient was suppressed after RCPT. The client must retry without it. */
function toSubmitError(error: unknown, recipients: readonly EmailAddress[]): unknown {
  const isSuppressed = error instanceof Fault && error.code === 'RECIPIENT_SUPPRESSED';
  return isSuppressed && recipients.length > 1 ? new SubmissionRefusal('recipientChanged') : error;
}

/**
 * The idempotency key of a message: a client that got no reply repeats the message, and the repetition has the same key. A
 * message to other recipients has another one, because relays split the recipients of one message.
 * @param recipients sorted
 * @param given the caller's own key, which replaces the content
 * @returns undefined without a Message-ID: two messages with the same text may both be meant
 */
async function makeSubmissionKey(
  { fields, body }: SubmittedMessage,
  recipients: readonly EmailAddress[],
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined && !fields.some(({ name }) => name === 'message-id')) return undefined;
  const to = recipients.map(normalizeAddress).join('\n');
  const head = Buffer.from(`${given === undefined ? 'message' : 'key'}\n${to}\n\n`);
  // Each relay on the way adds a Received field, with a new one for each attempt.
  const parts =
    given === undefined
      ? fields
          .filter(({ name }) => name !== 'received')
          .map(({ raw }) => Buffer.from(raw, 'latin1'))
      : [Buffer.from(given)];
  const hash = await hashInPieces([
    Buffer.concat([head, ...parts]),
    ...(given === undefined ? [body] : []),
  ]);
  return `smtp-${Buffer.from(hash, 'latin1').toString('base64url')}`;
}
