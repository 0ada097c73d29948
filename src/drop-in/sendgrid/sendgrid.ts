import { hash, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import { Fault } from '../../base/values/errors.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { findMessages } from '../../outcomes/report/find-messages-store.ts';
import { ScheduleStore } from '../../sending/queue/schedule-store.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import {
  type DropIn,
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { MemberTable, mapped, supported } from '../provider/members.ts';
import { checkUnsent, forEach, readJson, sendMessage } from '../provider/send-messages.ts';
import { mailNames, mailSendMembers, readMailSend, type SendGridMail } from './sendgrid-mails.ts';
import { suppressionCalls } from './sendgrid-suppressions.ts';

const smallBodyBytes = 4 * 1_024;

const cancelMembers = new MemberTable({
  batch_id: supported(Type.String()),
  status: mapped(
    Type.String(),
    'is `cancel`, which can’t be undone; `pause` is refused, because Signalpost pauses no batches',
  ),
});

const calls: readonly DropInCall[] = [
  {
    method: 'POST',
    path: '/v3/mail/send',
    summary: 'send emails, now or later, from their content or a template; or check them (sandbox)',
    permission: 'messages:send',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: mailSendMembers,
    names: mailNames(0),
    answer: sendMail,
  },
  {
    method: 'POST',
    path: '/v3/mail/batch',
    summary: 'make a batch ID',
    permission: 'messages:send',
    // The SDK sends none, other clients send `{}`.
    bodyBytes: smallBodyBytes,
    answer: async ({ admission }) => ({
      status: 201,
      body: { batch_id: `${admission.account.id}-${randomUUID()}` },
    }),
  },
  {
    method: 'GET',
    path: '/v3/mail/batch/:batchId',
    summary: 'check a batch ID',
    permission: 'messages:send',
    query: [],
    answer: async (request) => ({ status: 200, body: { batch_id: batchIdOf(request) } }),
  },
  {
    method: 'POST',
    path: '/v3/user/scheduled_sends',
    summary: 'cancel the scheduled emails of a batch',
    permission: 'queue:control',
    bodyBytes: smallBodyBytes,
    members: { '': cancelMembers },
    answer: cancelBatch,
  },
  {
    method: 'GET',
    path: '/v3/user/scheduled_sends/:batchId',
    summary: 'read whether a batch is canceled, moments later',
    permission: 'messages:read',
    query: [],
    answer: async (request) => {
      const batchId = batchIdOf(request);
      const isCanceled = await findCanceled(request, batchId);
      return { status: 200, body: isCanceled ? [{ batch_id: batchId, status: 'cancel' }] : [] };
    },
  },
  {
    method: 'DELETE',
    path: '/v3/user/scheduled_sends/:batchId',
    summary: 'always refused: what is canceled can’t be restored',
    permission: 'queue:control',
    answer: restoreBatch,
  },
  ...suppressionCalls,
];

/** SendGrid's API (https://www.twilio.com/docs/sendgrid/api-reference), as version 8 of its SDK calls it. */
export const sendgrid: DropIn = {
  name: 'sendgrid',
  title: 'SendGrid',
  // SendGrid's keys begin with `SG.`, which some programs check.
  keyOf: ({ authorization = '' }) => /^bearer +(?:SG\.)?(\S+) *$/i.exec(authorization)?.[1],
  calls,
  describeError: describeSendGridError,
  scopes: [
    'messages:send',
    'messages:send-content',
    'messages:read',
    'queue:control',
    'suppressions:read',
    'suppressions:write',
  ],
  environment: (url, key) => ({ SENDGRID_API_KEY: `SG.${key}`, SENDGRID_BASE_URL: url }),
};

/** Statuses as SendGrid documents them; those of the send operation otherwise. */
const statuses: Partial<Readonly<Record<DropInError['kind'], number>>> = {
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  SENDER_NOT_ALLOWED: 403,
  CONFLICT: 400,
  INVALID_ID: 400,
  VALIDATION_FAILED: 400,
  PERSONALIZATION_FAILURE: 400,
  RECIPIENT_SUPPRESSED: 400,
  QUOTA_EXCEEDED: 429,
};

function describeSendGridError({ kind, status, message, details }: DropInError): DropInAnswer {
  return { status: statuses[kind] ?? status, body: { errors: toErrors(message, details) } };
}

/** One error for each detail, as SendGrid answers. */
function toErrors(message: string, details: DropInError['details']) {
  if (details.length === 0) return [{ message, field: null, help: null }];
  return details.map(({ field, reason }) => ({
    message: `${field === '' ? reason : `${field} ${reason}`}.`.replace(/^./u, (first) =>
      first.toUpperCase(),
    ),
    field: field === '' ? null : field,
    help: null,
  }));
}

const attachmentPlaces = {
  member: 'content',
  find: (body: unknown) => member(body, 'attachments'),
};

async function sendMail(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, headers, body, span } = request;
  const json = readJson(request, attachmentPlaces);
  const mail = readMailSend(json, (id) => isBatchOf(request, id));
  const { isSandboxed, messages } = mail;
  const [first] = messages;
  // A request with several emails takes the slot of a batch, which has them elsewhere.
  if (messages.length > 1)
    return services.submission.useItems(admission.account.id, Buffer.from('{"messages":[]}'), () =>
      sendAll(request, mail),
    );
  if (first === undefined) throw new Error('a mail without personalizations was read');
  if (isSandboxed) {
    await checkUnsent(request, first());
    return sandboxed;
  }
  // A repetition is found by its bytes, which decoding its attachments overwrites.
  const idempotencyKey = headers['idempotency-key'];
  return accepted(await sendMessage(request, first(), { idempotencyKey, body, span }));
}

const sandboxed: DropInAnswer = { status: 200, body: undefined };

function accepted({ messageId }: Receipt, body?: unknown): DropInAnswer {
  return { status: 202, body, headers: ['x-message-id', messageId] };
}

/** Checks all emails before it sends one. */
async function sendAll(
  request: DropInRequest,
  { isSandboxed, messages }: SendGridMail,
): Promise<DropInAnswer> {
  const { headers, body, span } = request;
  const key = headers['idempotency-key'];
  const digest = key === undefined ? undefined : Buffer.from(hash('sha256', body));
  const checked = await forEach(messages, (message, index) =>
    withNames(index, () => checkUnsent(request, message())),
  );
  const invalid = checked.find((result) => result instanceof Fault);
  if (invalid !== undefined) throw invalid;
  if (isSandboxed) return sandboxed;
  const results = await forEach(messages, (message, index) => {
    const idempotencyKey = key === undefined ? undefined : `${key}/${index}`;
    return withNames(index, () =>
      sendMessage(request, message(), { idempotencyKey, body: digest, span }),
    );
  });
  const sent = results.flatMap((result) => (result instanceof Fault ? [] : [result]));
  const failed = results.flatMap((fault, index) =>
    fault instanceof Fault ? [{ fault, index }] : [],
  );
  const [first] = sent;
  if (first === undefined) throw failed[0]?.fault;
  const serious = failed.find(({ fault }) => fault.code !== 'RECIPIENT_SUPPRESSED');
  if (serious !== undefined) {
    const { fault, index } = serious;
    const reason = `wasn’t sent, but ${sent.length} of ${results.length} were: ${describeError(fault, {}).message}`;
    const details = [{ field: `personalizations[${index}]`, reason: reason.replace(/\.$/, '') }];
    throw new Fault(fault.code, { details, cause: fault });
  }
  // SendGrid drops suppressed recipients too; here the answer names them.
  const errors = failed.flatMap(({ fault }) => {
    const { message, details } = describeError(fault, {});
    return toErrors(message, details);
  });
  return accepted(first, errors.length === 0 ? undefined : { errors });
}

/** Names the members of this personalization in errors. */
async function withNames<Result>(index: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.details.length === 0) throw error;
    const { code, retryAfter, challenge } = error;
    const { details } = describeError(error, mailNames(index));
    throw new Fault(code, { details, retryAfter, challenge, cause: error });
  }
}

const batchPattern = /^(\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Batch IDs have the account's, so none is stored. */
function isBatchOf({ admission }: DropInRequest, id: string): boolean {
  return batchPattern.exec(id)?.[1] === admission.account.id;
}

/** @throws Fault VALIDATION_FAILED if the path has no batch ID of the account */
function batchIdOf(request: DropInRequest): string {
  const { batchId = '' } = request.params;
  if (isBatchOf(request, batchId)) return batchId;
  const details = [{ field: 'batch_id', reason: 'isn’t one from POST /v3/mail/batch' }];
  throw new Fault('VALIDATION_FAILED', { details });
}

async function cancelBatch(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, origin } = request;
  const { batch_id: given = '', status } = cancelMembers.read(readJson(request).value);
  const batchId = batchIdOf({ ...request, params: { batchId: given } });
  if (status !== 'cancel')
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: 'status', reason: 'must be cancel; Signalpost pauses no batches' }],
    });
  const accountId = admission.account.id;
  const { changed } = await new ScheduleStore(services.database).cancel(
    { accountId, externalId: batchId },
    (transaction) =>
      recordAuditEvent(transaction, {
        kind: 'schedule_cancel',
        accountId,
        clientId: admission.clientId,
        origin,
        detail: { id: batchId },
      }),
  );
  if (changed === 0)
    throw new DropInRefusal('CONFLICT', 'No email with this batch_id waits for its send_at.');
  return { status: 201, body: { batch_id: batchId, status: 'cancel' } };
}

async function findCanceled(
  { services, admission }: DropInRequest,
  externalId: string,
): Promise<boolean> {
  const { found } = await findMessages(services.database.kysely, admission.account.id, {
    externalId,
    state: 'canceled',
    limit: 1,
  });
  return found.length > 0;
}

async function restoreBatch(request: DropInRequest): Promise<DropInAnswer> {
  if (!(await findCanceled(request, batchIdOf(request))))
    throw new DropInRefusal('NOT_FOUND', 'The batch isn’t canceled.');
  throw new DropInRefusal(
    'CONFLICT',
    'Canceled emails can’t be restored; send them again with another batch_id.',
  );
}
