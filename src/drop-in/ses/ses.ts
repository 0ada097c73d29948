import type { IncomingMessage } from 'node:http';
import { findSigner } from '../../accounts/access/aws-signature.ts';
import { escapeHtml } from '../../content/template/escape-html.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropInAnswer, DropInRequest, DropInServices } from '../provider/drop-in.ts';
import { defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import { type DropInError, DropInRefusal, type ErrorTable } from '../provider/drop-in-errors.ts';
import type { ProviderMessage } from '../provider/mail.ts';
import * as sending from '../provider/sending.ts';
import type { SesRaw } from './ses-messages.ts';
import * as forms from './ses-messages.ts';
import { sendComplete } from './ses-raw.ts';

/**
 * Amazon SES (https://docs.aws.amazon.com/ses/latest/APIReference-V2/): version 2, and the sends of version 1. Its SDKs send no
 * key: they sign with the secret of one that was created for it.
 */
export const ses = defineDropIn({
  name: 'ses',
  keyOf: () => undefined,
  signerOf,
  calls: {
    'POST /v2/email/outbound-emails messages:send: SendEmail: send an email from its content, a complete message or a template':
      { answer: sendEmail, ...withAttachments, members: forms.sendMembers, names: forms.sendNames },
    'POST  messages:send: SendEmail, SendRawEmail and SendTemplatedEmail of version 1: forms, answered in XML':
      {
        answer: sendQuery,
        ...withAttachments,
        members: forms.queryTables,
        names: forms.queryNames,
      },
  },
  describeError: describeSesError,
  environment: (url, _, signing) => ({
    AWS_ACCESS_KEY_ID: signing?.accessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: signing?.secretAccessKey ?? '',
    AWS_ENDPOINT_URL_SESV2: url,
    AWS_ENDPOINT_URL_SES: url,
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
  }),
});

async function signerOf(
  { access, clock }: DropInServices,
  { method = '', url = '', headers, headersDistinct }: IncomingMessage,
) {
  const { authorization } = headers;
  if (authorization === undefined)
    throw new DropInRefusal('MISSING_KEY', 'The request has no signature.');
  // A client of a host in DROP_IN_HOSTS signs its path without the prefix.
  const targets = [url, url.slice('/ses'.length)];
  const head = { authorization, method, headers: headersDistinct, targets };
  return withTimeout(findSigner(access.signers, head, clock.now()));
}

async function sendEmail(request: DropInRequest): Promise<DropInAnswer> {
  const { body, origin } = request;
  const content = (given: unknown) => member(given, 'Content');
  const composed = (given: unknown) =>
    member(content(given), 'Simple') ?? member(content(given), 'Template');
  // A body can be large in its attachments, or in its complete message.
  const json = sending.readJson(
    request,
    body.includes('"RawContent"')
      ? { member: 'RawContent', find: (given) => member(composed(given), 'Attachments') }
      : { member: 'Data', find: (given) => [member(content(given), 'Raw')] },
  );
  const { messageId: MessageId } = await send(request, forms.readSend(json));
  return { ...ok({ MessageId }), headers: ['x-amzn-requestid', origin.requestId] };
}

async function sendQuery(request: DropInRequest): Promise<DropInAnswer> {
  const { requestId } = request.origin;
  const { action, message } = await forms.readQuerySend(request.body);
  const { messageId } = await send(request, message);
  const result = `<${action}Result><MessageId>${messageId}</MessageId></${action}Result>`;
  const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
  return xmlAnswer(200, `${action}Response`, result + metadata, requestId);
}

/** SDKs give every attempt of a call the same one. */
const invocation = /^[0-9A-Za-z-]{16,64}$/;

function send(request: DropInRequest, message: ProviderMessage | SesRaw): Promise<Receipt> {
  const id = request.headers['amz-sdk-invocation-id'];
  const idempotencyKey = typeof id === 'string' && invocation.test(id) ? id : undefined;
  return 'data' in message
    ? sendComplete(request, message, idempotencyKey)
    : sending.sendMessage(request, message, idempotencyKey);
}

/** An answer of version 1. @param content XML */
function xmlAnswer(status: number, root: string, content: string, requestId: string): DropInAnswer {
  return {
    status,
    contentType: 'text/xml; charset=utf-8',
    body: `<${root} xmlns="http://ses.amazonaws.com/doc/2010-12-01/">${content}</${root}>`,
    headers: ['x-amzn-requestid', requestId],
  };
}

/** Version 1 has no paths. */
const queryTarget = /^\/ses\/?(?:\?|$)/;

/** Status, and the names of the error in version 2 and 1. */
type ErrorName = readonly [status: number, name: string, queryName: string];

const errorNames: ErrorTable<ErrorName> = {
  MISSING_KEY: [403, 'MissingAuthenticationTokenException', 'MissingAuthenticationToken'],
  UNAUTHORIZED: [403, 'UnrecognizedClientException', 'InvalidClientTokenId'],
  MISSING_PERMISSION: [403, 'AccessDeniedException', 'AccessDenied'],
  ACCOUNT_SUSPENDED: [400, 'AccountSuspendedException', 'AccountSendingPausedException'],
  UNSUPPORTED_CALL: [404, 'UnknownOperationException', 'InvalidAction'],
  INVALID_ID: [404, 'NotFoundException', 'TemplateDoesNotExist'],
  SENDER_NOT_ALLOWED: [400, 'MessageRejected', 'MessageRejected'],
  PERSONALIZATION_FAILURE: [400, 'BadRequestException', 'MissingRenderingAttribute'],
  RECIPIENT_SUPPRESSED: [400, 'MessageRejected', 'MessageRejected'],
  IDEMPOTENCY_IN_PROGRESS: [429, 'TooManyRequestsException', 'Throttling'],
  QUOTA_EXCEEDED: [400, 'LimitExceededException', 'LimitExceededException'],
  IO_EXCEPTION: [503, 'ServiceUnavailableException', 'ServiceUnavailable'],
  INTERNAL_ERROR: [500, 'InternalFailure', 'InternalFailure'],
};
const otherError: ErrorName = [400, 'BadRequestException', 'InvalidParameterValue'];
const wrongSignature: ErrorName = [403, 'InvalidSignatureException', 'SignatureDoesNotMatch'];

function describeSesError(
  { kind, message, details }: DropInError,
  { request: { url = '' }, id: requestId }: Exchange,
): DropInAnswer {
  const isSignature = kind === 'UNAUTHORIZED' && details.length > 0;
  const [status, name, queryName] = isSignature ? wrongSignature : (errorNames[kind] ?? otherError);
  if (!queryTarget.test(url)) {
    const headers = ['x-amzn-errortype', name, 'x-amzn-requestid', requestId];
    return { status, body: { message }, headers };
  }
  const type = status < 500 ? 'Sender' : 'Receiver';
  const error = `<Error><Type>${type}</Type><Code>${queryName}</Code><Message>${escapeHtml(message)}</Message></Error>`;
  const content = `${error}<RequestId>${requestId}</RequestId>`;
  return xmlAnswer(status, 'ErrorResponse', content, requestId);
}
