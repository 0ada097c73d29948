import { hash } from 'node:crypto';
import type { SenderDirectory } from '../../accounts/sender/sender-directory.ts';
import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { maxDeliverySeconds } from '../../content/message/message-state.ts';
import { describeRawSource, rawTemplateId, rawVersion } from '../../content/message/raw-message.ts';
import type { RawRight, SendingCaller } from './admit-caller.ts';
import { checkRawParts } from './check-raw-parts.ts';
import { checkSender, findSender } from './check-sender.ts';
import type { CheckedMessage, Receipt } from './commit-message.ts';
import { type CheckedRequest, composeRow, type OtherRecipient } from './compose-row.ts';
import { hashInPieces } from './decode-base64.ts';
import { findInvalidText } from './find-invalid-text.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { prepareReplies } from './receive-replies.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { acceptMessage } from './send-email.ts';
import type { ParsedSendRequest } from './send-request.ts';
import { withTimeout } from './with-timeout.ts';

/** A complete message to send as it is. */
export interface RawMessage {
  /** With CRLF line ends, as it is to be sent; the same for all recipients. */
  readonly source: Buffer;
  /** Of its Subject field, decoded. */
  readonly subject: string;
  /** What a send request would say about it: envelope, metadata and actions. */
  readonly request: unknown;
  /** Other addresses in its header that must be verified senders. */
  readonly moreSenders: readonly EmailAddress[];
  readonly otherRecipients: readonly EmailAddress[];
  /** Stands for the whole message. */
  readonly idempotencyKey: string | undefined;
  /** Of its receipt, if that is traced. */
  readonly span?: TraceSpan | undefined;
}

/**
 * Sends a complete message, with the checks of the send operation as far as they apply: there is no template and there are
 * no values.
 * @returns once it is committed for all recipients and flushed
 * @throws Fault as the send operation does
 */
export function sendRaw(
  dependencies: SendDependencies,
  right: RawRight,
  message: RawMessage,
): Promise<Receipt> {
  const { idempotencyKey: text, span } = message;
  return acceptMessage(dependencies, {
    accountId: right.account.id,
    isTest: right.isTest,
    templateId: rawTemplateId,
    span,
    readKey:
      text === undefined
        ? undefined
        : () => ({ text, requestHash: hash('sha256', text, 'binary') }),
    check: (key, trace) => checkRaw(dependencies, right, message, key, trace),
  });
}

async function checkRaw(
  dependencies: SendDependencies,
  right: RawRight,
  message: RawMessage,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
): Promise<CheckedMessage> {
  const { source } = message;
  const { account } = right;
  const { senders, attachmentSettings } = dependencies;
  const request = dependencies.parser.parse(
    { value: message.request, problems: findInvalidText(message.request) },
    account.addOns.has('transactional'),
  );
  const { rules } = attachmentSettings;
  await checkRawParts({ source, rules, tracking: trackingOf(request) }, { group: account.id });
  const sender = await withTimeout(checkSender(senders, right, request));
  await checkMoreSenders(senders, right, message.moreSenders);
  const replyAddress = await prepareReplies(dependencies, account.id, request, sender.from.address);
  const otherRecipients = message.otherRecipients.map((to) => ({ to }));
  const checked = { source, subject: message.subject, request, sender, replyAddress };
  return storeRaw(right, { ...checked, otherRecipients }, key, trace);
}

/** The members of a send request that ask to track it. */
export function trackingOf(request: ParsedSendRequest): readonly string[] {
  return (['trackOpens', 'trackClicks'] as const)
    .filter((name) => request[name])
    .map((name) => `actions.${name}`);
}

/** A complete message that passed every check. */
interface CheckedRaw
  extends Pick<CheckedRequest, 'subject' | 'request' | 'sender' | 'replyAddress' | 'status'> {
  readonly source: Buffer;
  readonly otherRecipients: readonly OtherRecipient[];
}

/** The rows of a complete message, which is stored as the only attachment of each. */
export async function storeRaw(
  right: RawRight,
  { source, otherRecipients, ...checked }: CheckedRaw,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
): Promise<CheckedMessage> {
  const sha256 = Buffer.from(await hashInPieces([source]), 'latin1').toString('hex');
  const attachments = {
    infos: [describeRawSource(sha256, source.length)],
    contents: [{ sha256, content: source }],
  };
  const request = {
    caller: right,
    templateId: rawTemplateId,
    template: { version: rawVersion, freshnessSeconds: maxDeliverySeconds },
    variant: undefined,
    key,
    newUsage: false,
    attachments,
    trace,
    ...checked,
  };
  const row = composeRow(request, otherRecipients);
  return { row, attachments, newUsageRecord: undefined, quota: right.account.quota };
}

/** @throws Fault SENDER_NOT_ALLOWED unless all are verified senders of the account, or the messages are tests */
export async function checkMoreSenders(
  senders: Pick<SenderDirectory, 'sender'>,
  caller: SendingCaller,
  addresses: readonly EmailAddress[],
): Promise<void> {
  for (const address of addresses) {
    const sender = await withTimeout(findSender(senders, caller, address));
    if (sender?.verified === true) continue;
    const reason = 'is not a verified sender of this account';
    throw new Fault('SENDER_NOT_ALLOWED', { details: [{ field: address, reason }] });
  }
}
