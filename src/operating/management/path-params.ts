import { type TSchema, Type } from 'typebox';
import { systemMailKinds } from '../../accounts/notices/system-mail.ts';
import { Text, Whole } from '../../base/values/common-schemas.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import {
  type AccountId,
  type ClientId,
  isPublicId,
  type ListId,
  parseMessageId,
  type TemplateId,
} from '../../base/values/ids.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { maxReplyAttachments } from '../../outcomes/reply/reply-limits.ts';
import { Problem } from './answer/problem.ts';

const maxFilterName = 60;
/** Text, HTML and attachments. */
const maxReplyParts = 2 + maxReplyAttachments;
/** Mail with more parts can't be read. */
const maxMailParts = 1_000;

/**
 * A path parameter: its schema, its required form, phrased to follow the name, and its parser, which returns undefined for
 * malformed text.
 */
function pathParam<Value>(
  schema: TSchema,
  form: string,
  read: (text: string) => Value | undefined,
) {
  return { schema, form, read };
}

function publicId<Id extends string>(description: string, example: string) {
  return pathParam(
    Text(description, { examples: [example], pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    'must be 1 to 64 letters, digits, - and _',
    (text) => (isPublicId(text) ? (text as Id) : undefined),
  );
}

function uuid(description: string) {
  const schema = Text(description, { format: 'uuid', maxLength: 36 });
  return pathParam<string>(schema, 'must be a UUID', parseMessageId);
}

function address(description: string) {
  const schema = Text(description, { examples: ['ada@customer.example'], maxLength: 320 });
  return pathParam<string>(schema, 'must be an email address', (text) => {
    const parsed = parseEmailAddress(text);
    return parsed.ok ? normalizeAddress(parsed.address) : undefined;
  });
}

function place(description: string, maximum: number) {
  return pathParam(
    Whole(description, { minimum: 1, maximum }),
    `must be a whole number from 1 to ${maximum}`,
    (text) => (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= maximum ? Number(text) : undefined),
  );
}

/** Schema and parser of every path parameter. */
export const pathParams = {
  accountId: publicId<AccountId>('The account.', '1000'),
  address: address('The email address, case-insensitive.'),
  clientId: publicId<ClientId>('The client ID of the OAuth app.', 'demo-app'),
  destination: pathParam(
    Text('A recipient domain, or `*` for all.', { examples: ['customer.example'], maxLength: 253 }),
    'must be a domain name or *',
    (text) => (text === '*' ? text : parseDomainName(text)),
  ),
  attachment: place('The attachment’s place in the message, from 1.', maxMailParts),
  domain: pathParam(
    Text('The domain.', { examples: ['mail.example.com'], maxLength: 253 }),
    'must be a domain name such as mail.example.com',
    parseDomainName,
  ),
  email: address('The user’s email address, case-insensitive.'),
  eventId: uuid('The event.'),
  filterName: pathParam(
    Text('The name of the filter.', { examples: ['Bounces'], maxLength: maxFilterName }),
    `must be 1 to ${maxFilterName} characters, without line breaks or spaces around them`,
    (text) =>
      /^[^\p{Cc}]+$/u.test(text) && text.trim() === text && !isLonger(text, maxFilterName)
        ? text
        : undefined,
  ),
  importId: uuid('The import: a UUID chosen by the caller.'),
  inboxMessageId: uuid('The captured message.'),
  keyId: uuid('The key.'),
  listId: publicId<ListId>('The contact list.', 'l-news'),
  mailKind: pathParam(
    Type.Enum([...systemMailKinds], { description: 'The kind of mail.' }),
    `must be one of ${systemMailKinds.join(', ')}`,
    (text) => systemMailKinds.find((kind) => kind === text),
  ),
  messageId: { ...uuid('The message.'), read: parseMessageId },
  part: place('The part’s place in the reply, from 1.', maxReplyParts),
  receiver: pathParam(
    Text('The destination’s name, as listed.', { examples: ['customer.example'], maxLength: 253 }),
    'must be 1 to 253 printable ASCII characters without spaces',
    (text) => (/^[\x21-\x7e]{1,253}$/.test(text) ? text : undefined),
  ),
  replyId: uuid('The reply.'),
  sha256: pathParam(
    Text('SHA-256 of the content, in hex.', {
      examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      pattern: '^[0-9a-f]{64}$',
    }),
    'must be 64 hexadecimal digits in lower case',
    (text) => (/^[0-9a-f]{64}$/.test(text) ? text : undefined),
  ),
  sourceId: publicId<string>('The outbox source.', 'orders'),
  starterId: publicId<string>('The starter.', 'receipt'),
  templateId: publicId<TemplateId>('The template.', 'receipt'),
  version: place('The version number.', 999_999_999),
  webhookId: uuid('The webhook.'),
};

/** All path parameters, validated. A call only has those of its path. */
export type PathParams = {
  readonly [Name in keyof typeof pathParams]: NonNullable<
    ReturnType<(typeof pathParams)[Name]['read']>
  >;
};

/** The names of the parameters of a path such as `/accounts/:accountId`. */
export function pathParamNames(path: string): (keyof PathParams)[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as keyof PathParams);
}

/** 404 for a malformed parameter, with its required form. */
export function malformedParam(name: keyof PathParams): Problem {
  const { form } = pathParams[name];
  return new Problem('not-found', `${name} ${form}`, { errors: [{ field: name, reason: form }] });
}
