import { Fault } from '../../base/values/errors.ts';
import { mebibyte, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import type {
  DropIn,
  DropInAnswer,
  DropInCall,
  DropInError,
  DropInRequest,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { invalidMembers } from '../provider/members.ts';
import { forEach, readJson, sendMessage } from '../provider/send-messages.ts';
import {
  fileMembers,
  headerMembers,
  postmarkMembers,
  postmarkNames,
  type ReadEmail,
  readContentEmail,
  readTemplated,
  templatedMembers,
} from './postmark-emails.ts';
import { okAnswer, postmarkReads } from './postmark-reads.ts';
import { postmarkSuppressions } from './postmark-suppressions.ts';

const maxBatchEmails = 500;

const sends = {
  method: 'POST',
  permission: 'messages:send',
  names: postmarkNames,
} as const;

const calls: readonly DropInCall[] = [
  {
    ...sends,
    path: '/email',
    summary: 'send an email',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: { '': postmarkMembers, 'Attachments[]': fileMembers, 'Headers[]': headerMembers },
    answer: async (request) => okAnswer(await sendOne(request, readContentEmail)),
  },
  {
    ...sends,
    path: '/email/batch',
    summary: `send up to ${maxBatchEmails} emails; each has a result of its own`,
    bodyBytes: 10 * mebibyte,
    answer: (request) => sendBatch(request, readContentEmail, listStart, 'a list of emails'),
  },
  {
    ...sends,
    path: '/email/withTemplate',
    summary: 'send an email from a template',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: { '': templatedMembers },
    answer: async (request) => okAnswer(await sendOne(request, readTemplated)),
  },
  {
    ...sends,
    path: '/email/batchWithTemplates',
    summary: `send up to ${maxBatchEmails} emails from templates; each has a result of its own`,
    bodyBytes: 10 * mebibyte,
    answer: (request) => sendBatch(request, readTemplated, messagesStart, '{"Messages": […]}'),
  },
  ...postmarkReads,
  ...postmarkSuppressions,
];

/** Postmark's API (https://postmarkapp.com/developer), as version 5 of its SDK calls it. */
export const postmark: DropIn = {
  name: 'postmark',
  title: 'Postmark',
  keyOf: ({ 'x-postmark-server-token': token }) => (typeof token === 'string' ? token : undefined),
  calls,
  describeError: describePostmarkError,
  scopes: [
    'messages:send',
    'messages:send-content',
    'messages:read',
    'templates:read',
    'suppressions:read',
    'suppressions:write',
    'reports:read',
  ],
  environment: (url, key) => ({
    POSTMARK_SERVER_TOKEN: key,
    POSTMARK_API_URL: url,
    // The SDK's option `requestHost`.
    POSTMARK_REQUEST_HOST: url.replace(/^https?:\/\//, ''),
  }),
};

/** Status and code of errors (https://postmarkapp.com/developer/api/overview#error-codes). */
const errors: Readonly<Record<DropInError['kind'], readonly [status: number, code: number]>> = {
  MISSING_KEY: [401, 10],
  UNAUTHORIZED: [401, 10],
  MISSING_PERMISSION: [401, 10],
  ACCOUNT_SUSPENDED: [422, 413],
  UNSUPPORTED_CALL: [404, 404],
  NOT_FOUND: [422, 701],
  CONFLICT: [422, 300],
  // Of a template; a bounce has another code.
  INVALID_ID: [422, 1_101],
  VALIDATION_FAILED: [422, 300],
  SENDER_NOT_ALLOWED: [422, 400],
  PERSONALIZATION_FAILURE: [422, 300],
  RECIPIENT_SUPPRESSED: [422, 406],
  IDEMPOTENCY_IN_PROGRESS: [422, 300],
  IDEMPOTENCY_MISMATCH: [422, 300],
  QUOTA_EXCEEDED: [429, 405],
  IO_EXCEPTION: [503, 100],
  INTERNAL_ERROR: [500, 500],
};

function describePostmarkError({ kind, message, details }: DropInError): DropInAnswer {
  const [status, code] = errors[kind];
  const [first] = details;
  const isUnreadable = kind === 'VALIDATION_FAILED' && first?.field === '';
  const own = isUnreadable && /JSON|UTF-8|empty/.test(first.reason) ? 402 : undefined;
  const ErrorCode = own ?? (first?.field === 'BounceID' ? 407 : code);
  return { status, body: { ErrorCode, Message: message } };
}

const attachmentPlaces = {
  member: 'Content',
  find: (body: unknown) => member(body, 'Attachments'),
};

async function sendOne(request: DropInRequest, read: ReadEmail): Promise<object> {
  const { value, contents } = readJson(request, attachmentPlaces);
  const message = read(value, contents);
  const { messageId, suppressedRecipients } = await sendMessage(request, message, {
    span: request.span,
  }).catch((error: unknown) => {
    throw error instanceof Fault && error.code === 'RECIPIENT_SUPPRESSED'
      ? toInactive(error)
      : error;
  });
  return {
    To: member(value, 'To'),
    Cc: member(value, 'Cc'),
    Bcc: member(value, 'Bcc'),
    SubmittedAt: new Date(request.services.clock.now()).toISOString(),
    MessageID: messageId,
    ErrorCode: 0,
    Message:
      suppressedRecipients.length === 0
        ? 'OK'
        : `Message OK, but will not deliver to these inactive addresses: ${suppressedRecipients.join(', ')}`,
  };
}

/** SDKs read the addresses from this sentence. */
function toInactive({ extra }: Fault): Fault {
  const addresses = extra?.suppressedRecipients as readonly string[];
  const reason = `You tried to send to recipients that are suppressed for this account. Found inactive addresses: ${addresses.join(', ')}. Inactive recipients can be reactivated with the suppressions API`;
  return new Fault('RECIPIENT_SUPPRESSED', { details: [{ field: '', reason }] });
}

const listStart = /^\s*\[/;
const messagesStart = /^\s*\{\s*"Messages"\s*:\s*\[/;

/** @param start of the body, which is replaced to make it one of the batch operation @param form what the body must be */
async function sendBatch(
  request: DropInRequest,
  read: ReadEmail,
  start: RegExp,
  form: string,
): Promise<DropInAnswer> {
  const { services, admission, body } = request;
  const [opening] = start.exec(body.toString('latin1', 0, 1_000)) ?? [];
  if (opening === undefined)
    throw invalidMembers([{ field: '', reason: `the body must be ${form}` }]);
  const rest = [body.subarray(opening.length), Buffer.from(start === listStart ? '}' : '')];
  const batch = Buffer.concat([Buffer.from('{"messages":['), ...rest]);
  return services.submission.useItems(admission.account.id, batch, async (items) => {
    if (items.length > maxBatchEmails)
      throw invalidMembers([
        { field: '', reason: `the batch has more than ${maxBatchEmails} emails` },
      ]);
    const results = await forEach(items, (item) => sendOne({ ...request, body: item }, read));
    return okAnswer(results.map(viewResult));
  });
}

function viewResult(result: object): unknown {
  return result instanceof Fault
    ? describePostmarkError(describeError(result, postmarkNames)).body
    : result;
}
