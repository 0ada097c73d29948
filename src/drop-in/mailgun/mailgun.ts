import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import type {
  DropIn,
  DropInAnswer,
  DropInCall,
  DropInError,
  DropInRequest,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { checkUnsent, forEach, sendMessage } from '../provider/send-messages.ts';
import { maxFormTextBytes, readForm } from './form-data.ts';
import {
  type MailgunSend,
  messageMembers,
  messageNames,
  mimeMembers,
  readMailgunMessage,
} from './mailgun-messages.ts';
import { sendMime } from './mailgun-mime.ts';
import { mailgunReads } from './mailgun-reads.ts';

const calls: readonly DropInCall[] = [
  {
    method: 'POST',
    path: '/v3/:domain/messages',
    summary:
      'send an email, now or later, from its content or a template, or one to each recipient',
    permission: 'messages:send',
    bodyBytes: maxFormTextBytes,
    withAttachments: true,
    members: { '': messageMembers },
    names: messageNames,
    answer: send,
  },
  {
    method: 'POST',
    path: '/v3/:domain/messages.mime',
    summary: 'send a complete message',
    permission: 'messages:send',
    bodyBytes: mebibyte,
    withAttachments: true,
    members: { '': mimeMembers },
    names: { ...messageNames, 'envelope.replyToAddress': 'Reply-To' },
    answer: async (request) => queued(await sendMime(request, await formOf(request))),
  },
  ...mailgunReads,
];

/** Mailgun's API (https://documentation.mailgun.com/docs/mailgun/api-reference), as version 14 of its SDK calls it. */
export const mailgun: DropIn = {
  name: 'mailgun',
  title: 'Mailgun',
  keyOf: ({ authorization = '' }) => {
    const [, encoded = ''] = /^basic +([A-Za-z0-9+/_-]{1,1000}=*) *$/i.exec(authorization) ?? [];
    return /^api:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
  },
  calls,
  describeError: describeMailgunError,
  scopes: [
    'messages:send',
    'messages:send-content',
    'suppressions:read',
    'suppressions:write',
    'templates:read',
  ],
  environment: (url, key) => ({ MAILGUN_API_KEY: key, MAILGUN_URL: url }),
};

const statuses: Readonly<Record<DropInError['kind'], number>> = {
  MISSING_KEY: 401,
  UNAUTHORIZED: 401,
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  UNSUPPORTED_CALL: 404,
  NOT_FOUND: 404,
  CONFLICT: 409,
  INVALID_ID: 404,
  VALIDATION_FAILED: 400,
  SENDER_NOT_ALLOWED: 403,
  PERSONALIZATION_FAILURE: 400,
  RECIPIENT_SUPPRESSED: 400,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_MISMATCH: 409,
  QUOTA_EXCEEDED: 429,
  IO_EXCEPTION: 503,
  INTERNAL_ERROR: 500,
};

function describeMailgunError({ kind, message }: DropInError): DropInAnswer {
  // `h:` and `v:` are prefixes of the names that follow.
  return { status: statuses[kind], body: { message: message.replaceAll(/\b([hv]:)\./gi, '$1') } };
}

const thanks = 'Queued. Thank you.';

function queued(id: string, message = thanks): DropInAnswer {
  return { status: 200, body: { id, message } };
}

function formOf({ body, headers }: DropInRequest) {
  return readForm(body, headers['content-type']);
}

async function send(request: DropInRequest): Promise<DropInAnswer> {
  const given = readMailgunMessage(await formOf(request));
  const sender = given.isTest ? { ...request, admission: request.admission.forTest } : request;
  if (given.recipients !== undefined) return sendToEach(sender, given, given.recipients);
  const { messageId } = await sendMessage(sender, given.messageTo(undefined), {
    span: request.span,
  });
  return queued(idOf(messageId, given.from));
}

/** As in webhooks: the Message-ID of the first recipient's message. */
function idOf(messageId: string, from: EmailAddress): string {
  return `<${messageId}@${domainOf(from)}>`;
}

const maxNamed = 10;

/**
 * Sends a message to each recipient of a batch, unless one of them can't be sent. Then it is too late to refuse all: what becomes
 * impossible meanwhile, or because an address is suppressed, is told in the answer.
 */
async function sendToEach(
  request: DropInRequest,
  { from, messageTo }: MailgunSend,
  recipients: NonNullable<MailgunSend['recipients']>,
): Promise<DropInAnswer> {
  const { services, admission, span } = request;
  // Only for its slot: the messages are made one by one.
  const places = Buffer.from(JSON.stringify({ messages: recipients.map((_, at) => ({ at })) }));
  return services.submission.useItems(admission.account.id, places, async () => {
    const checked = await forEach(recipients, async (recipient) =>
      checkUnsent(request, messageTo(recipient)),
    );
    const refused = checked.find((one) => one instanceof Fault);
    if (refused !== undefined) throw refused;
    const results = await forEach(recipients, async (recipient) =>
      sendMessage(request, messageTo(recipient), { span }),
    );
    const sent = results.find((one) => !(one instanceof Fault));
    const failures = results.flatMap((one, at) =>
      one instanceof Fault ? [{ fault: one, address: recipients[at]?.address }] : [],
    );
    if (sent === undefined || sent instanceof Fault) throw failures[0]?.fault;
    const named = failures.slice(0, maxNamed).map(({ fault, address }) => {
      const { message } = describeError(fault, messageNames);
      return `${address}: ${message}`;
    });
    const id = idOf(sent.messageId, from);
    if (named.length === 0) return queued(id);
    const count = `Not sent to ${failures.length} of ${recipients.length} recipients.`;
    return queued(id, [thanks, count, ...named].join(' '));
  });
}
