import { createHash } from 'node:crypto';
import { type EmailAddress, normalizeAddress } from '../foundation/email-address.ts';
import { Fault } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { TraceContext } from '../foundation/tracing/trace-context.ts';
import type { TraceSpan } from '../foundation/tracing/tracing.ts';
import { maxDeliverySeconds } from '../message/message-state.ts';
import { describeRawSource, rawTemplateId, rawVersion } from '../message/raw-message.ts';
import type { SenderDirectory } from '../sender/sender-directory.ts';
import { addArchiveCopy } from './add-archive-copy.ts';
import type { RawRight } from './admit-caller.ts';
import { checkRawParts } from './check-raw-parts.ts';
import { checkSender } from './check-sender.ts';
import { commitWithAttachments, type Receipt } from './commit-message.ts';
import { type CheckedRequest, composeGroup } from './compose-row.ts';
import { hashInPieces } from './decode-base64.ts';
import { findInvalidText } from './find-invalid-text.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { prepareReplies } from './receive-replies.ts';
import { commitWithinQuota, type SendDependencies, withKey } from './send-email.ts';
import { traceAccept } from './trace-accept.ts';
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
  return message.span === undefined
    ? sendUntraced(dependencies, right, message)
    : traceAccept(
        message.span,
        right.account.id,
        (span) => sendUntraced(dependencies, right, message, span.context),
        ({ messageId }) => ({ messageId, templateId: rawTemplateId }),
      );
}

function sendUntraced(
  dependencies: SendDependencies,
  right: RawRight,
  message: RawMessage,
  trace?: TraceContext,
): Promise<Receipt> {
  const { idempotencyKey } = message;
  if (idempotencyKey === undefined)
    return sendChecked(dependencies, right, message, undefined, 0, trace);
  const requestHash = createHash('sha256').update(idempotencyKey).digest('binary');
  const key = { text: idempotencyKey, requestHash };
  return withKey(dependencies, right.account.id, key, (deadline) =>
    sendChecked(dependencies, right, message, key, deadline, trace),
  );
}

async function sendChecked(
  dependencies: SendDependencies,
  right: RawRight,
  message: RawMessage,
  key: IdempotencyKey | undefined,
  deadline: number,
  trace: TraceContext | undefined,
): Promise<Receipt> {
  const { source, otherRecipients } = message;
  const { account } = right;
  const read = dependencies.parser.parse(
    { value: message.request, problems: findInvalidText(message.request) },
    account.addOns.has('transactional'),
  );
  const { rules } = dependencies.attachmentSettings;
  const tracking = (['trackOpens', 'trackClicks'] as const)
    .filter((name) => read[name])
    .map((name) => `actions.${name}`);
  await checkRawParts({ source, rules, tracking }, { group: account.id });
  const sender = await withTimeout(
    Promise.resolve(
      checkSender(dependencies.senders, account.id, read, {
        senderAddress: undefined,
        createdByEmail: '',
      }),
    ),
  );
  await checkMoreSenders(dependencies.senders, account.id, message.moreSenders);
  const replyAddress = await prepareReplies(dependencies, account.id, read, sender.from.address);
  const requestFor = (to: EmailAddress) => {
    const request = { ...read, to };
    return account.archiveAddress === undefined
      ? request
      : addArchiveCopy(request, account.archiveAddress);
  };
  const sha256 = Buffer.from(await hashInPieces([source]), 'latin1').toString('hex');
  const attachments = {
    infos: [describeRawSource(sha256, source.length)],
    contents: [{ sha256, content: source }],
  };
  const checked: CheckedRequest = {
    caller: right,
    templateId: rawTemplateId,
    template: { version: rawVersion, freshnessSeconds: maxDeliverySeconds },
    variant: undefined,
    request: requestFor(read.to),
    sender,
    key,
    newUsage: false,
    attachments,
    trace,
    subject: message.subject,
    replyAddress,
  };
  const row = composeGroup(checked, requestFor, otherRecipients);
  const commit = () => commitWithAttachments(dependencies, row, deadline, attachments);
  return account.quota === undefined
    ? commit()
    : commitWithinQuota(dependencies, account.quota, row, commit);
}

/** @throws Fault SENDER_NOT_ALLOWED unless all are verified senders of the account */
export async function checkMoreSenders(
  senders: Pick<SenderDirectory, 'sender'>,
  accountId: AccountId,
  addresses: readonly EmailAddress[],
): Promise<void> {
  for (const address of addresses) {
    const finding = senders.sender(accountId, normalizeAddress(address));
    const sender = finding instanceof Promise ? await withTimeout(finding) : finding;
    if (sender?.verified === true) continue;
    const reason = 'is not a verified sender of this account';
    throw new Fault('SENDER_NOT_ALLOWED', { details: [{ field: address, reason }] });
  }
}
