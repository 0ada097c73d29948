import type { IncomingMessage } from 'node:http';
import { findSigner } from '../../accounts/access/aws-signature.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { hashInPieces } from '../../sending/submission/decode-base64.ts';
import { type BodyJson, member } from '../../sending/submission/read-body-json.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import {
  type DropIn,
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  type DropInOrigin,
  DropInRefusal,
  type DropInRequest,
  type DropInServices,
  type DropInSigner,
} from '../provider/drop-in.ts';
import { readJson, sendMessage } from '../provider/send-messages.ts';
import { readSend, sendMembers, sendNames } from './ses-messages.ts';
import { escapeXml, queryMembers, queryNames, readQuerySend, xmlAnswer } from './ses-query.ts';
import { sendComplete } from './ses-raw.ts';
import { ok, sesReads } from './ses-reads.ts';

const prefix = '/ses';
const noSigning = { accessKeyId: '', secretAccessKey: '' };

const calls: readonly DropInCall[] = [
  {
    method: 'POST',
    path: '/v2/email/outbound-emails',
    summary: 'SendEmail: send an email from its content, a complete message or a template',
    permission: 'messages:send',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: sendMembers,
    names: sendNames,
    answer: async (request) => {
      const { messageId } = await send(request, readSendBody(request));
      return ok(request, { MessageId: messageId });
    },
  },
  ...sesReads,
  {
    method: 'POST',
    path: '',
    summary: 'SendEmail, SendRawEmail and SendTemplatedEmail of version 1: forms, answered in XML',
    permission: 'messages:send',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: queryMembers,
    names: queryNames,
    answer: async (request) => {
      const { requestId } = request.origin;
      const { action, ...given } = await readQuerySend(request.body);
      const { messageId } = await send(request, given);
      const result = `<${action}Result><MessageId>${messageId}</MessageId></${action}Result>`;
      const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
      return xmlAnswer(200, `${action}Response`, result + metadata, requestId);
    },
  },
];

/**
 * Amazon SES (https://docs.aws.amazon.com/ses/latest/APIReference-V2/): version 2, and the sends of version 1. Its SDKs send no
 * key: they sign with the secret of one that was created for it.
 */
export const ses: DropIn = {
  name: 'ses',
  title: 'Amazon SES',
  keyOf: () => undefined,
  signerOf,
  calls,
  describeError: describeSesError,
  scopes: [
    'messages:send',
    'messages:send-content',
    'suppressions:read',
    'suppressions:write',
    'templates:read',
  ],
  environment: (url, _, { accessKeyId, secretAccessKey } = noSigning) => ({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL_SESV2: url,
    AWS_ENDPOINT_URL_SES: url,
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
  }),
};

async function signerOf(
  { access, clock }: DropInServices,
  { method = '', url = '', headers, headersDistinct }: IncomingMessage,
): Promise<DropInSigner> {
  const { authorization } = headers;
  if (authorization === undefined)
    throw new DropInRefusal('MISSING_KEY', 'The request has no signature.');
  // A client of a host in DROP_IN_HOSTS signs its path without the prefix.
  const targets = [url, url.slice(prefix.length)];
  const head = { authorization, method, headers: headersDistinct, targets };
  const finding = findSigner(access.signers, head, clock.now());
  const { principal, checkBody } = await withTimeout(finding);
  return { principal, checkBody: async (body) => checkBody(await hashOf(body)) };
}

async function hashOf(body: Buffer): Promise<string> {
  return Buffer.from(await hashInPieces([body]), 'latin1').toString('hex');
}

/** Where a body can be large: in its attachments, or its complete message. */
function readSendBody(request: DropInRequest): BodyJson {
  const content = (body: unknown) => member(body, 'Content');
  if (!request.body.includes('"RawContent"'))
    return readJson(request, { member: 'Data', find: (body) => [member(content(body), 'Raw')] });
  return readJson(request, {
    member: 'RawContent',
    find: (body) => {
      const composed = member(content(body), 'Simple') ?? member(content(body), 'Template');
      return member(composed, 'Attachments');
    },
  });
}

/** SDKs give every attempt of a call the same one. */
const invocation = /^[0-9A-Za-z-]{16,64}$/;

function send(
  request: DropInRequest,
  { value, contents }: Pick<BodyJson, 'value' | 'contents'>,
): Promise<Receipt> {
  const message = readSend(value, contents);
  const id = request.headers['amz-sdk-invocation-id'];
  const idempotencyKey = typeof id === 'string' && invocation.test(id) ? id : undefined;
  if ('raw' in message) return sendComplete(request, message.raw, idempotencyKey);
  const { body, span } = request;
  return sendMessage(request, message, { idempotencyKey, body, span });
}

/** Version 1 has no paths. */
const queryTarget = /^\/ses\/?(?:\?|$)/;

/** Status, and the names of the error in version 2 and 1. */
type ErrorName = readonly [status: number, name: string, queryName: string];

const errors: Readonly<Record<DropInError['kind'], ErrorName>> = {
  MISSING_KEY: [403, 'MissingAuthenticationTokenException', 'MissingAuthenticationToken'],
  UNAUTHORIZED: [403, 'UnrecognizedClientException', 'InvalidClientTokenId'],
  MISSING_PERMISSION: [403, 'AccessDeniedException', 'AccessDenied'],
  ACCOUNT_SUSPENDED: [400, 'AccountSuspendedException', 'AccountSendingPausedException'],
  UNSUPPORTED_CALL: [404, 'UnknownOperationException', 'InvalidAction'],
  NOT_FOUND: [404, 'NotFoundException', 'TemplateDoesNotExist'],
  CONFLICT: [409, 'ConflictException', 'InvalidParameterValue'],
  INVALID_ID: [404, 'NotFoundException', 'TemplateDoesNotExist'],
  VALIDATION_FAILED: [400, 'BadRequestException', 'InvalidParameterValue'],
  SENDER_NOT_ALLOWED: [400, 'MessageRejected', 'MessageRejected'],
  PERSONALIZATION_FAILURE: [400, 'BadRequestException', 'MissingRenderingAttribute'],
  RECIPIENT_SUPPRESSED: [400, 'MessageRejected', 'MessageRejected'],
  IDEMPOTENCY_IN_PROGRESS: [429, 'TooManyRequestsException', 'Throttling'],
  IDEMPOTENCY_MISMATCH: [400, 'BadRequestException', 'InvalidParameterValue'],
  QUOTA_EXCEEDED: [400, 'LimitExceededException', 'LimitExceededException'],
  IO_EXCEPTION: [503, 'ServiceUnavailableException', 'ServiceUnavailable'],
  INTERNAL_ERROR: [500, 'InternalFailure', 'InternalFailure'],
};
const wrongSignatureName: ErrorName = [403, 'InvalidSignatureException', 'SignatureDoesNotMatch'];

function describeSesError(
  { kind, message, details }: DropInError,
  { target, requestId }: DropInOrigin,
): DropInAnswer {
  const isSignature = kind === 'UNAUTHORIZED' && details.length > 0;
  const [status, name, queryName] = isSignature ? wrongSignatureName : errors[kind];
  if (!queryTarget.test(target))
    return {
      status,
      body: { message },
      headers: ['x-amzn-errortype', name, 'x-amzn-requestid', requestId],
    };
  const type = status < 500 ? 'Sender' : 'Receiver';
  const error = `<Error><Type>${type}</Type><Code>${queryName}</Code><Message>${escapeXml(message)}</Message></Error>`;
  const content = `${error}<RequestId>${requestId}</RequestId>`;
  return xmlAnswer(status, 'ErrorResponse', content, requestId);
}
