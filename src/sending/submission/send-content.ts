import { Limiter } from '../../base/fairness/limiter.ts';
import { memoryShare } from '../../base/fairness/memory-share.ts';
import { policies } from '../../base/fairness/policies.ts';
import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import { Busy, Fault, type FaultDetail } from '../../base/values/errors.ts';
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
import {
  composeContentMail,
  fillTexts,
  type HeaderRecipients,
  type Mailbox,
  measureContentMail,
} from './compose-content-mail.ts';
import type { OtherRecipient } from './compose-row.ts';
import { limitDetails } from './describe-body-problems.ts';
import { findInvalidText } from './find-invalid-text.ts';
import { type IdempotencyKey, readIdempotencyKey } from './idempotency.ts';
import { type BodyJson, type DecodedBytes, readBodyJson, unusableBody } from './read-body-json.ts';
import { parseLargeBody } from './read-large-json.ts';
import { prepareReplies } from './receive-replies.ts';
import { maxRecipientName } from './send-body-schema.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { acceptMessage } from './send-email.ts';
import { checkMoreSenders, storeRaw, trackingOf } from './send-raw.ts';
import type { ParsedSendRequest } from './send-request.ts';
import { withTimeout } from './with-timeout.ts';

export type { Mailbox } from './compose-content-mail.ts';

/** A file of a message. */
interface ContentFile {
  readonly filename: string;
  /** Media type, such as `application/pdf`. */
  readonly contentType: string;
  /** Set: an inline part that the HTML shows as `cid:…`. */
  readonly contentId?: string | undefined;
  /** Base64 (RFC 4648 with padding), as characters or as their bytes, which are overwritten; or the file itself. */
  readonly content: string | Buffer | DecodedBytes;
}

/**
 * A message that isn't made from a stored template, whichever API it came by. What the send body limits is limited here too, and
 * errors name its members: `envelope.fromAddress`, `content.attachments[0].filename`.
 */
export interface ContentMessage {
  readonly from: Mailbox;
  /** Each a verified sender. Default: the From address. */
  readonly replyTo?: readonly Mailbox[] | undefined;
  /** Headers show To and Cc as given. Each distinct address gets a message of its own; at least one is needed. */
  readonly to: readonly Mailbox[];
  readonly cc?: readonly Mailbox[] | undefined;
  readonly bcc?: readonly Mailbox[] | undefined;
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  /** Values of placeholders in subject, HTML and text. Undefined: these are literal. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: readonly ContentFile[] | undefined;
  /** Groups its reports. */
  readonly tag?: string | undefined;
  readonly externalId?: string | undefined;
  /** Returned with the message, in search and in webhooks. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** RFC 3339, up to 365 days ahead. */
  readonly sendAt?: string | undefined;
  /** RFC 3339. */
  readonly deliverBefore?: string | undefined;
  readonly trackOpens?: boolean | undefined;
  readonly trackClicks?: boolean | undefined;
  readonly transactional?: boolean | undefined;
  readonly receiveReplies?: boolean | undefined;
}

/** How a message of a program is sent. */
export interface ContentSending {
  /** Unchecked. Undefined: it has none. */
  readonly idempotencyKey?: unknown;
  /** What a repetition with the key must equal: the bytes of the request. */
  readonly body?: Buffer | undefined;
  /** Of its request, if that is traced. */
  readonly span?: TraceSpan | undefined;
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
  sending: ContentSending = {},
): Promise<Receipt> {
  return withMemory(right, bytesOf(message), () =>
    acceptContent(dependencies, right, sending, () => ({ json: toSendBody(message), message })),
  );
}

/**
 * Checks such a message without sending it.
 * @throws Fault as `sendContent` does for checks 6 to 8
 */
export function checkContentMessage(
  dependencies: SendDependencies,
  right: RawRight,
  message: ContentMessage,
): Promise<void> {
  return withMemory(right, bytesOf(message), async () => {
    const read = (): ReadContent => ({ json: toSendBody(message), message });
    await checkContent(dependencies, right, read, undefined, undefined);
  });
}

/** A request whose caller passed checks 1 to 3. */
export interface ContentRequest {
  readonly contentType: string | undefined;
  readonly idempotencyKey: unknown;
  readonly body: RawBody;
  readonly span: TraceSpan | undefined;
}

/**
 * Sends the message that the body of a request describes (`contentBodySchema`).
 * @returns as `sendContent`
 * @throws Fault as the send operation does
 */
export function sendContentBody(
  dependencies: SendDependencies,
  right: RawRight,
  { body, contentType, idempotencyKey, span }: ContentRequest,
): Promise<Receipt> {
  const bytes = body instanceof Buffer ? body : undefined;
  return withMemory(right, bytes?.length ?? 0, () =>
    acceptContent(
      dependencies,
      right,
      { idempotencyKey, body: bytes, span },
      () => {
        if ('unusable' in body) throw unusableBody(body.unusable);
        const parse = body.length > sendBodyBytes ? parseLargeBody : undefined;
        return { json: readBodyJson(body, contentType, parse) };
      },
      () => bytes && parseLargeBody(bytes).value,
    ),
  );
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

function bytesOf({ attachments = [] }: ContentMessage): number {
  return attachments.reduce((sum, { content }) => sum + lengthOf(content), 0);
}

function lengthOf(content: ContentFile['content']): number {
  return 'decoded' in Object(content)
    ? (content as DecodedBytes).decoded.length
    : (content as string | Buffer).length;
}

/** The body, and the mailboxes of a message that came otherwise. */
interface ReadContent {
  readonly json: BodyJson;
  readonly message?: ContentMessage;
}

function acceptContent(
  dependencies: SendDependencies,
  right: RawRight,
  { idempotencyKey, body, span }: ContentSending,
  read: () => ReadContent,
  readBody?: () => unknown,
): Promise<Receipt> {
  return acceptMessage(dependencies, {
    accountId: right.account.id,
    isTest: right.isTest,
    templateId: rawTemplateId,
    span,
    readKey:
      idempotencyKey === undefined
        ? undefined
        : () => readIdempotencyKey(idempotencyKey, rawTemplateId, body),
    check: (key, trace, onParsed) => checkContent(dependencies, right, read, key, trace, onParsed),
    ...(readBody && { readBody }),
  });
}

/** Checks 6 to 8; there is no template. */
async function checkContent(
  dependencies: SendDependencies,
  right: RawRight,
  read: () => ReadContent,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
  onParsed?: OnParsed,
): Promise<CheckedMessage> {
  const { account } = right;
  const { parser, senders, attachmentSettings } = dependencies;

  // 6 body, add-on included
  const { json, message } = read();
  const parsed = parser.parseContent(json, account.addOns.has('transactional'));
  onParsed?.(parsed.request.status);
  const recipients = message ?? recipientsOf(parsed.request);
  const { first, others } = distinctRecipients(recipients);
  const request = {
    ...parsed.request,
    to: first.address,
    toDisplayName: first.name,
    cc: [],
    bcc: [],
  };
  const { rules } = attachmentSettings;
  const limit = attachmentLimitOf(account, attachmentSettings);
  const filled = await fillTexts(parsed, account.id);
  const replyTo =
    message?.replyTo ?? (request.replyTo === undefined ? [] : [{ address: request.replyTo }]);
  const head = { parsed: { ...parsed, request }, recipients, replyTo };
  const attachments =
    request.attachments.length === 0
      ? undefined
      : await checkAttachments(request.attachments, limit, rules, () =>
          measureContentMail(filled, head),
        );

  // 7 sender
  const sender = await withTimeout(checkSender(senders, right, request));
  const moreReplyTo = replyTo.slice(1).map(({ address }) => address);
  await checkMoreSenders(senders, right, moreReplyTo);
  const replyAddress = await prepareReplies(dependencies, account.id, request, sender.from.address);

  // 8 personalization
  if (filled.kind === 'incomplete') {
    const reason = 'has no value';
    const details = filled.missing.map((field) => ({ field, reason }));
    throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
  }
  if (filled.kind === 'unusable') throw invalidContent(filled.problems);
  const source = await composeContentMail(filled, { ...head, sender }, attachments);
  const tracking = trackingOf(request);
  if (tracking.length > 0) await checkRawParts({ source, rules, tracking }, { group: account.id });
  const { subject } = filled;
  const status = dependencies.statusLinks.for(account.id, request.status);
  return storeRaw(
    right,
    { source, subject, request, sender, replyAddress, status, otherRecipients: others },
    key,
    trace,
  );
}

function recipientsOf({ to, toDisplayName, cc, bcc }: ParsedSendRequest): HeaderRecipients {
  const mailbox = (address: EmailAddress): Mailbox => ({ address });
  return {
    to: [{ address: to, name: toDisplayName }],
    cc: cc.map(mailbox),
    bcc: bcc.map(mailbox),
  };
}

/**
 * Who gets a message: each address once, as what it is first.
 * @throws Fault VALIDATION_FAILED if there is none, there are too many, or a name is too long
 */
function distinctRecipients({ to, cc = [], bcc = [] }: HeaderRecipients): {
  readonly first: Mailbox;
  readonly others: readonly OtherRecipient[];
} {
  if (to.length + cc.length + bcc.length > maxContentRecipients)
    throw invalidContent([
      {
        field: 'envelope',
        reason: `has more than ${maxContentRecipients} recipients; send several messages`,
      },
    ]);
  const found = new Map<string, Mailbox & { readonly optional: boolean }>();
  for (const { list, optional } of [
    { list: to, optional: false },
    { list: [...cc, ...bcc], optional: true },
  ])
    for (const { address, name } of list) {
      if (name !== undefined && isLonger(name, maxRecipientName))
        throw invalidContent([
          { field: address, reason: `has a name longer than ${maxRecipientName} characters` },
        ]);
      const normalized = normalizeAddress(address);
      if (!found.has(normalized)) found.set(normalized, { address, name, optional });
    }
  const [first, ...others] = found.values();
  if (first === undefined)
    throw invalidContent([{ field: 'envelope.toAddress', reason: 'is required' }]);
  return {
    first,
    others: others.map(({ address, name, optional }) => ({
      to: address,
      toDisplayName: name,
      optional,
    })),
  };
}

/**
 * The message as the body of a request, which has one address for To and for Reply-To.
 * @param isStored its texts are those of a stored template
 */
export function toSendBody(message: MessageFacts, isStored = false): BodyJson {
  const { from, replyTo: [replyTo] = [], to, cc = [], bcc = [], attachments = [] } = message;
  const [recipient] = [...to, ...cc, ...bcc];
  const contents = new Map(attachments.map(({ content }, index) => [`${index}`, content]));
  const { subject, html, text, values, headers, tag, externalId, attributes } = message;
  const { sendAt, deliverBefore, trackOpens, trackClicks, transactional, receiveReplies } = message;
  const addresses = (list: readonly Mailbox[]) =>
    isStored ? list.map(({ address }) => address) : undefined;
  const value = {
    envelope: defined({
      toAddress: recipient?.address ?? '',
      toDisplayName: recipient?.name,
      ccAddressList: addresses(cc),
      bccAddressList: addresses(bcc),
      fromAddress: from?.address,
      fromDisplayName: from?.name,
      replyToAddress: replyTo?.address,
    }),
    content: defined({
      subjectLine: subject,
      html,
      text,
      literal: isStored ? undefined : values === undefined,
      personalizationDataMap: values,
      headers,
      attachments: attachments.map(({ filename, contentType, contentId }, index) =>
        defined({ filename, contentType, contentId, content: `${index}` }),
      ),
    }),
    metadata: defined({
      transactional,
      externalId,
      tagList: tag === undefined ? undefined : [tag],
      attributes,
    }),
    actions: defined({ sendAt, deliverBefore, trackOpens, trackClicks, receiveReplies }),
  };
  return { value, problems: findInvalidText(value), contents };
}

/** A message that may be made from a stored template, which can have the sender, the subject and other values. */
interface MessageFacts extends Omit<ContentMessage, 'from' | 'subject' | 'values'> {
  readonly from?: Mailbox | undefined;
  readonly subject?: string | undefined;
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

/** The members that have a value. */
function defined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function invalidContent(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details: limitDetails(details) });
}
