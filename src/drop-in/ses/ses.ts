import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { findSigner } from '../../accounts/access/aws-signature.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { hashInPieces } from '../../sending/submission/decode-base64.ts';
import { type BodyJson, member } from '../../sending/submission/read-body-json.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import {
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  type DropInOrigin,
  DropInRefusal,
  type DropInRequest,
  type DropInServices,
  type DropInSigner,
  defineDropIn,
  ok,
  on,
  withAttachments,
} from '../provider/drop-in.ts';
import { rename } from '../provider/drop-in-routes.ts';
import {
  type BodyMember,
  invalidMember,
  MemberTable,
  mapped,
  supported,
} from '../provider/members.ts';
import { readJson, sendMessage } from '../provider/send-messages.ts';
import { readQueryForm } from './query-form.ts';
import { readSend, sendMembers, sendNames } from './ses-messages.ts';
import { sendComplete } from './ses-raw.ts';

const { members: own } = sendMembers[''];
const { members: template } = sendMembers['Content.Template'];
const noIdentities = own.FromEmailAddressIdentityArn as BodyMember;
const Addresses = Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 50 });

const common = {
  Source: 'address',
  Tags: own.EmailTags as BodyMember,
  ConfigurationSetName: `short: ${own.ConfigurationSetName?.note}`,
  SourceArn: noIdentities,
  ReturnPathArn: noIdentities,
} as const;
const composed = {
  ...common,
  Destination: 'object',
  ReplyToAddresses: mapped(Addresses, 'needs verified senders'),
  ReturnPath: own.FeedbackForwardingEmailAddress as BodyMember,
} as const;
/** The forms of version 1 by their action. */
const tables = {
  SendEmail: new MemberTable({ ...composed, Message: 'object' }),
  SendRawEmail: new MemberTable({
    ...common,
    Destinations: supported(Addresses),
    RawMessage: `object: has \`Data\`, which ${sendMembers['Content.Raw'].members.Data?.note}`,
    FromArn: noIdentities,
  }),
  SendTemplatedEmail: new MemberTable({
    ...composed,
    Template: `short: ${template.TemplateName?.note}`,
    TemplateData: `text: ${template.TemplateData?.note}`,
    TemplateArn: noIdentities,
  }),
};

/** The members of version 1 by those of version 2. */
const ownNames = {
  FromEmailAddress: 'Source',
  EmailTags: 'Tags',
  Content: 'Message',
  'Content.Simple': 'Message',
  'Content.Raw': 'RawMessage',
  'Content.Template': 'Template',
  'Content.Template.TemplateName': 'Template',
  'Content.Template.TemplateData': 'TemplateData',
};

/** The members of version 1 by those of the send body and of version 2. */
const queryNames: Readonly<Record<string, string>> = {
  ...ownNames,
  ...Object.fromEntries(
    Object.entries(sendNames).map(([name, member]) => [name, rename(member, ownNames)]),
  ),
};

/** As SendEmail in version 2. */
interface QuerySend extends Pick<BodyJson, 'value' | 'contents'> {
  readonly action: string;
}

/** Where an empty text is an empty list. */
const lists = /^(ReplyTo|To|Cc|Bcc)Addresses$|^Tags$|^Destinations$/;

/**
 * Reads a form of version 1.
 * @throws DropInRefusal UNSUPPORTED_CALL or Fault VALIDATION_FAILED
 */
async function readQuerySend(body: Buffer): Promise<QuerySend> {
  const { Action: action = '', Version: _, ...form } = await readQueryForm(body);
  const given = withoutEmptyLists(form);
  if (action === 'SendEmail') {
    const { Message, ...email } = tables.SendEmail.read(given);
    return { action, value: toSend(email, { Simple: Message ?? {} }) };
  }
  if (action === 'SendRawEmail') {
    const { RawMessage, Destinations, ...email } = tables.SendRawEmail.read(given);
    const data = RawMessage?.Data;
    const isLong = data instanceof Buffer;
    const Destination = Destinations && { ToAddresses: Destinations };
    const Raw = isLong ? { ...RawMessage, Data: action } : (RawMessage ?? {});
    const value = toSend({ ...email, Destination }, { Raw });
    return isLong ? { action, value, contents: new Map([[action, data]]) } : { action, value };
  }
  if (action === 'SendTemplatedEmail') {
    const { Template, TemplateData, ...email } = tables.SendTemplatedEmail.read(given);
    if (Template === undefined) throw invalidMember('Template', 'is required');
    return { action, value: toSend(email, { Template: { TemplateName: Template, TemplateData } }) };
  }
  const name = typeof action === 'string' ? action.slice(0, 100) : '';
  throw new DropInRefusal(
    'UNSUPPORTED_CALL',
    name === '' ? 'The form has no Action.' : `${name} isn’t supported by Signalpost.`,
  );
}

function toSend(
  { Source, Destination, Tags, ...others }: Readonly<Record<string, unknown>>,
  Content: object,
): unknown {
  return {
    ...others,
    FromEmailAddress: Source,
    Destination: Destination && withoutEmptyLists(Destination),
    EmailTags: Tags,
    Content,
  };
}

function withoutEmptyLists(object: unknown): Record<string, unknown> {
  const isGiven = ([name, value]: [string, unknown]) => value !== '' || !lists.test(name);
  return Object.fromEntries(Object.entries(Object(object)).filter(isGiven));
}

const entities = new Map(Object.entries({ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }));

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&${entities.get(character)};`);
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

const calls: readonly DropInCall[] = [
  on(
    'POST /v2/email/outbound-emails messages:send: SendEmail: send an email from its content, a complete message or a template',
    async (request) => {
      const { messageId: MessageId } = await send(request, readSendBody(request));
      return { ...ok({ MessageId }), headers: ['x-amzn-requestid', request.origin.requestId] };
    },
    { ...withAttachments, members: sendMembers, names: sendNames },
  ),
  on(
    'POST  messages:send: SendEmail, SendRawEmail and SendTemplatedEmail of version 1: forms, answered in XML',
    async (request) => {
      const { requestId } = request.origin;
      const { action, ...given } = await readQuerySend(request.body);
      const { messageId } = await send(request, given);
      const result = `<${action}Result><MessageId>${messageId}</MessageId></${action}Result>`;
      const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
      return xmlAnswer(200, `${action}Response`, result + metadata, requestId);
    },
    { ...withAttachments, members: tables, names: queryNames },
  ),
];

/**
 * Amazon SES (https://docs.aws.amazon.com/ses/latest/APIReference-V2/): version 2, and the sends of version 1. Its SDKs send no
 * key: they sign with the secret of one that was created for it.
 */
export const ses = defineDropIn({
  name: 'ses',
  title: 'Amazon SES',
  keyOf: () => undefined,
  signerOf,
  calls,
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
): Promise<DropInSigner> {
  const { authorization } = headers;
  if (authorization === undefined)
    throw new DropInRefusal('MISSING_KEY', 'The request has no signature.');
  // A client of a host in DROP_IN_HOSTS signs its path without the prefix.
  const targets = [url, url.slice('/ses'.length)];
  const head = { authorization, method, headers: headersDistinct, targets };
  const finding = findSigner(access.signers, head, clock.now());
  const { principal, checkBody } = await withTimeout(finding);
  const hashOf = async (body: Buffer) =>
    Buffer.from(await hashInPieces([body]), 'latin1').toString('hex');
  return { principal, checkBody: async (body) => checkBody(await hashOf(body)) };
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

const errors: Partial<Readonly<Record<DropInError['kind'], ErrorName>>> = {
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
const wrongSignatureName: ErrorName = [403, 'InvalidSignatureException', 'SignatureDoesNotMatch'];

function describeSesError(
  { kind, message, details }: DropInError,
  { target, requestId }: DropInOrigin,
): DropInAnswer {
  const isSignature = kind === 'UNAUTHORIZED' && details.length > 0;
  const [status, name, queryName] = isSignature ? wrongSignatureName : (errors[kind] ?? otherError);
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
