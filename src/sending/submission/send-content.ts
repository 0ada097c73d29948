import { Limiter } from '../../base/fairness/limiter.ts';
import { memoryShare } from '../../base/fairness/memory-share.ts';
import { policies } from '../../base/fairness/policies.ts';
import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import { normalizeAddress } from '../../base/values/email-address.ts';
import { Busy, Fault } from '../../base/values/errors.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { rawTemplateId } from '../../content/message/raw-message.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawBody } from '../../host/http/read-body.ts';
import type { RawRight } from './admit-caller.ts';
import { attachmentLimitOf, checkAttachments } from './check-attachments.ts';
import type { OnParsed } from './check-message.ts';
import { checkRawParts } from './check-raw-parts.ts';
import { checkSender } from './check-sender.ts';
import type { CheckedMessage, Receipt } from './commit-message.ts';
import type { MailPeople } from './compose-content-mail.ts';
import { composeContentMail, composeTexts, fillTexts } from './compose-content-mail.ts';
import type { OtherRecipient } from './compose-row.ts';
import { limitDetails, unusableField, unusableFields } from './describe-body-problems.ts';
import { type IdempotencyKey, readIdempotencyKey } from './idempotency.ts';
import { type BodyJson, readBodyJson, unusableBody } from './read-body-json.ts';
import { parseLargeBody } from './read-large-json.ts';
import { prepareReplies } from './receive-replies.ts';
import { maxRecipientName } from './send-body-schema.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { acceptMessage } from './send-email.ts';
import { checkMoreSenders, storeRaw, trackingOf } from './send-raw.ts';
import type { ParsedSendRequest } from './send-request.ts';
import { withTimeout } from './with-timeout.ts';

/** A message that isn't made from a stored template, whichever API it came by. */
export interface ContentMessage {
  /** The body of a request for it (`contentBodySchema`). Contents that are bytes in base64 are decoded in their place. */
  readonly json: BodyJson;
  /**
   * Everyone, if that is more than the body can say. Headers show To and Cc as given; each distinct address gets a message of its
   * own; each Reply-To must be a verified sender.
   */
  readonly people?: MailPeople;
}

/** The request of such a message, whose caller passed checks 1 to 3. */
export interface ContentSending {
  /** Unchecked. Undefined: it has none. */
  readonly idempotencyKey: unknown;
  /** What a repetition with the key must equal: the bytes of the request. */
  readonly body: Buffer | undefined;
  /** If it is traced. */
  readonly span: TraceSpan | undefined;
}

/** Max recipients of one message: To, Cc and Bcc. */
export const maxContentRecipients = 150;

/**
 * Sends a message that isn't made from a stored template, with the checks of the send operation in its order.
 * @returns once it is committed for all recipients and flushed, with the ID of the first recipient's message
 * @throws Fault as the send operation does
 */
export function sendContent(
  dependencies: SendDependencies,
  right: RawRight,
  message: ContentMessage,
  sending: ContentSending,
): Promise<Receipt> {
  return acceptContent(dependencies, right, bytesOf(message), sending, () => message);
}

/**
 * Checks such a message without sending it.
 * @throws Fault as `sendContent` does for checks 6 to 8
 */
export async function checkContentMessage(
  dependencies: SendDependencies,
  right: RawRight,
  message: ContentMessage,
): Promise<void> {
  await withMemory(right, bytesOf(message), () => checkContent(dependencies, right, () => message));
}

/** A request for such a message. */
export interface ContentRequest extends Omit<ContentSending, 'body'> {
  readonly contentType: string | undefined;
  readonly body: RawBody;
}

/**
 * Sends the message that the body of a request describes (`contentBodySchema`).
 * @returns as `sendContent`
 * @throws Fault as the send operation does
 */
export function sendContentBody(
  dependencies: SendDependencies,
  right: RawRight,
  { body: given, contentType, ...request }: ContentRequest,
): Promise<Receipt> {
  const body = given instanceof Buffer ? given : undefined;
  const read = (): ContentMessage => {
    if ('unusable' in given) throw unusableBody(given.unusable);
    const parse = given.length > sendBodyBytes ? parseLargeBody : undefined;
    return { json: readBodyJson(given, contentType, parse) };
  };
  const readBody = () => body && parseLargeBody(body).value;
  const sending = { ...request, body };
  return acceptContent(dependencies, right, body?.length ?? 0, sending, read, readBody);
}

/** Messages that are composed with their attachments. */
const memory = new Limiter(policies.composedMessages, memoryShare());
/** The attachments in base64, and the message with them. */
const copies = 2;

/**
 * Does something with a message whose attachments are copied.
 * @param bytes of what is sent; without attachments, these hardly count
 * @throws Fault IO_EXCEPTION if too many wait for memory, or for what the work waits for
 */
export async function withMemory<Result>(
  { account }: RawRight,
  bytes: number,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return bytes <= sendBodyBytes
      ? await work()
      : await memory.run(account.id, work, { amount: bytes * copies });
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    throw new Fault('IO_EXCEPTION', { cause: error, retryAfter: error.retryAfter });
  }
}

/** Of its attachments. */
function bytesOf({ json: { contents } }: ContentMessage): number {
  return [...(contents?.values() ?? [])]
    .map((one) => (typeof one === 'object' && 'decoded' in one ? one.decoded : one))
    .reduce((sum, { length }) => sum + length, 0);
}

function acceptContent(
  dependencies: SendDependencies,
  right: RawRight,
  bytes: number,
  { idempotencyKey, body, span }: ContentSending,
  read: () => ContentMessage,
  readBody?: () => unknown,
): Promise<Receipt> {
  const readKey = () => readIdempotencyKey(idempotencyKey, rawTemplateId, body);
  const accept = () =>
    acceptMessage(dependencies, {
      accountId: right.account.id,
      isTest: right.isTest,
      templateId: rawTemplateId,
      span,
      readKey: idempotencyKey === undefined ? undefined : readKey,
      check: (...given) => checkContent(dependencies, right, read, ...given),
      readBody,
    });
  return withMemory(right, bytes, accept);
}

/** Checks 6 to 8; there is no template. */
async function checkContent(
  dependencies: SendDependencies,
  right: RawRight,
  read: () => ContentMessage,
  key?: IdempotencyKey,
  trace?: TraceContext,
  onParsed?: OnParsed,
): Promise<CheckedMessage> {
  const { account } = right;
  const { parser, senders, attachmentSettings } = dependencies;

  // 6 body, add-on included
  const { json, people: given } = read();
  const parsed = parser.parseContent(json, account.addOns.has('transactional'));
  onParsed?.(parsed.request.status);
  const people = given ?? peopleOf(parsed.request);
  const [first, ...otherRecipients] = distinctRecipients(people);
  const { to, toDisplayName } = first;
  const request = { ...parsed.request, to, toDisplayName, cc: [], bcc: [] };
  const { rules } = attachmentSettings;
  const limit = attachmentLimitOf(account, attachmentSettings);
  const filled = await fillTexts(parsed, account.id);
  const head = { request, date: parsed.date, people };
  // It can't be sent anyway if it isn't filled.
  const measure = () => (filled.kind === 'filled' ? composeTexts(filled, head).length : 0);
  const attachments =
    request.attachments.length === 0
      ? undefined
      : await checkAttachments(request.attachments, limit, rules, measure);

  // 7 sender
  const sender = await withTimeout(checkSender(senders, right, request));
  const { from } = sender;
  const moreReplyTo = people.replyTo.slice(1).map(({ address }) => address);
  await checkMoreSenders(senders, right, moreReplyTo);
  const replyAddress = await prepareReplies(dependencies, account.id, request, from.address);

  // 8 personalization
  if (filled.kind === 'incomplete') {
    const details = filled.missing.map((field) => ({ field, reason: 'has no value' }));
    throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
  }
  if (filled.kind === 'unusable') throw unusableFields(filled.problems);
  const source = await composeContentMail(filled, { ...head, from }, attachments);
  const tracking = trackingOf(request);
  if (tracking.length > 0) await checkRawParts({ source, rules, tracking }, { group: account.id });
  const { subject } = filled;
  const status = dependencies.statusLinks.for(account.id, request.status);
  const checked = { source, subject, request, sender, replyAddress, status, otherRecipients };
  return storeRaw(right, checked, key, trace);
}

function peopleOf({ to, toDisplayName, cc, bcc, replyTo }: ParsedSendRequest): MailPeople {
  return {
    to: [{ address: to, displayName: toDisplayName }],
    cc: cc.map((address) => ({ address })),
    bcc: bcc.map((address) => ({ address })),
    replyTo: replyTo === undefined ? [] : [{ address: replyTo }],
  };
}

/**
 * Who gets a message: each address once, as what it is first.
 * @throws Fault VALIDATION_FAILED if there is none, there are too many, or a name is too long
 */
function distinctRecipients({ to, cc, bcc }: MailPeople): [OtherRecipient, ...OtherRecipient[]] {
  const found = new Map<string, OtherRecipient>();
  for (const [index, { address, displayName }] of [...to, ...cc, ...bcc].entries()) {
    if (index === maxContentRecipients) {
      const reason = `has more than ${maxContentRecipients} recipients; send several messages`;
      throw unusableField('envelope', reason);
    }
    if (displayName !== undefined && isLonger(displayName, maxRecipientName)) {
      const reason = `has a name longer than ${maxRecipientName} characters`;
      throw unusableField(address, reason);
    }
    const recipient = { to: address, toDisplayName: displayName, optional: index >= to.length };
    const normalized = normalizeAddress(address);
    if (!found.has(normalized)) found.set(normalized, recipient);
  }
  const [first, ...others] = found.values();
  if (first !== undefined) return [first, ...others];
  throw unusableField('envelope.toAddress', 'is required');
}
