import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Fault } from '../../base/values/errors.ts';
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
import {
  findClaimProblem,
  isSignedWith,
  parseSignature,
  type SignatureProblem,
} from './aws-signature.ts';
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
    'messages:read',
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

const problems: Readonly<Record<SignatureProblem, string>> = {
  'unsigned-headers': 'must cover Host, X-Amz-Date and every other X-Amz- header, each once',
  'wrong-scope': 'must be for the service ses, on the day of X-Amz-Date',
  // SDKs look for the first two words, and correct their clock.
  expired: 'expired, or is ahead of time: X-Amz-Date must be within 5 minutes',
  mismatch:
    'doesn’t match: check the secret, and that no proxy changes the host, path or body of the request',
};

function wrongSignature(reason: string): Fault {
  return new Fault('UNAUTHORIZED', { details: [{ field: 'signature', reason }] });
}

/** A signature over the declared hash of the body is checked before any of it is read. */
async function signerOf(
  { access, clock }: DropInServices,
  request: IncomingMessage,
): Promise<DropInSigner> {
  const { method = '', url = '', headersDistinct: headers } = request;
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw new DropInRefusal('MISSING_KEY', 'The request has no signature.');
  const claimed = parseSignature(authorization);
  if (claimed === undefined) throw wrongSignature('isn’t one of Signature Version 4 in a header');
  if (headers['x-amz-security-token'] !== undefined)
    throw wrongSignature('can’t have a session: remove X-Amz-Security-Token');
  const problem = findClaimProblem(claimed, headers, clock.now());
  if (problem !== undefined) throw wrongSignature(problems[problem]);
  const key = await withTimeout(access.signers.findSigning(claimed.accessKeyId));
  if (key === undefined) throw new Fault('UNAUTHORIZED');
  const requireSigned = (bodyHash: string): void => {
    // A client of a host in DROP_IN_HOSTS signs its path without the prefix.
    const isSigned = [url, url.slice(prefix.length)].some((target) =>
      isSignedWith(key.secret, claimed, { method, target, headers, bodyHash }),
    );
    if (!isSigned) throw wrongSignature(problems.mismatch);
  };
  const declared = headers['x-amz-content-sha256']?.[0];
  if (declared !== undefined) requireSigned(declared);
  return {
    principal: key.principal,
    checkBody: async (body) => {
      const bodyHash = await hashOf(body);
      if (declared === undefined) requireSigned(bodyHash);
      else if (declared !== bodyHash) throw wrongSignature(problems.mismatch);
      access.signers.recordUse(key.principal);
    },
  };
}

async function hashOf(body: Buffer): Promise<string> {
  if (body.length <= sendBodyBytes) return hash('sha256', body);
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
  if (target.startsWith(`${prefix}/v2/`))
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
