import { type TSchema, Type } from 'typebox';
import { systemMailKinds } from '../../accounts/notices/system-mail.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import { isPublicId, parseMessageId } from '../../base/values/ids.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { maxAttachments } from '../../content/message/attachment.ts';
import { maxReplyAttachments } from '../../outcomes/reply/reply-limits.ts';
import { Problem } from './answer/problem.ts';
import type { PathParams } from './operation.ts';

interface PathParam {
  readonly schema: TSchema;
  /** The required form, phrased to follow the parameter name. */
  readonly form: string;
  /** The parsed value; undefined if malformed. */
  read(text: string): string | number | undefined;
}

const maxFilterName = 60;
/** Text, HTML and attachments. */
const maxReplyParts = 2 + maxReplyAttachments;

function publicId(description: string, example: string): PathParam {
  return {
    schema: Type.String({ description, examples: [example], pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    form: 'must be 1 to 64 letters, digits, - and _',
    read: (text) => (isPublicId(text) ? text : undefined),
  };
}

function uuid(description: string): PathParam {
  return {
    schema: Type.String({ description, format: 'uuid', maxLength: 36 }),
    form: 'must be a UUID',
    read: parseMessageId,
  };
}

function address(description: string): PathParam {
  return {
    schema: Type.String({ description, examples: ['ada@customer.example'], maxLength: 320 }),
    form: 'must be an email address',
    read(text) {
      const parsed = parseEmailAddress(text);
      return parsed.ok ? normalizeAddress(parsed.address) : undefined;
    },
  };
}

function domain(description: string): PathParam {
  return {
    schema: Type.String({ description, examples: ['mail.example.com'], maxLength: 253 }),
    form: 'must be a domain name such as mail.example.com',
    read: parseDomainName,
  };
}

/** Schema and parser of every path parameter. */
export const pathParams: Readonly<Record<keyof PathParams, PathParam>> = {
  accountId: publicId('The account.', '1000'),
  address: address('The email address, case-insensitive.'),
  clientId: publicId('The client ID of the OAuth app.', 'demo-app'),
  destination: {
    schema: Type.String({
      description: 'A recipient domain, or `*` for all.',
      examples: ['customer.example'],
      maxLength: 253,
    }),
    form: 'must be a domain name or *',
    read: (text) => (text === '*' ? text : parseDomainName(text)),
  },
  attachment: {
    schema: Type.Integer({
      description: 'The attachment’s place in the message, from 1.',
      minimum: 1,
      maximum: maxAttachments,
    }),
    form: `must be a whole number from 1 to ${maxAttachments}`,
    read: (text) =>
      /^[1-9]\d?$/.test(text) && Number(text) <= maxAttachments ? Number(text) : undefined,
  },
  domain: domain('The domain.'),
  email: address('The user’s email address, case-insensitive.'),
  eventId: uuid('The event.'),
  filterName: {
    schema: Type.String({
      description: 'The name of the filter.',
      examples: ['Bounces'],
      maxLength: maxFilterName,
    }),
    form: `must be 1 to ${maxFilterName} characters, without line breaks or spaces around them`,
    read: (text) =>
      /^[^\p{Cc}]+$/u.test(text) && text.trim() === text && !isLonger(text, maxFilterName)
        ? text
        : undefined,
  },
  importId: uuid('The import: a UUID chosen by the caller.'),
  inboxMessageId: uuid('The captured message.'),
  keyId: uuid('The key.'),
  listId: publicId('The contact list.', 'l-news'),
  mailKind: {
    schema: Type.Enum([...systemMailKinds], { description: 'The kind of mail.' }),
    form: `must be one of ${systemMailKinds.join(', ')}`,
    read: (text) => systemMailKinds.find((kind) => kind === text),
  },
  messageId: uuid('The message.'),
  part: {
    schema: Type.Integer({
      description: 'The part’s place in the reply, from 1.',
      minimum: 1,
      maximum: maxReplyParts,
    }),
    form: `must be a whole number from 1 to ${maxReplyParts}`,
    read: (text) =>
      /^[1-9]\d?$/.test(text) && Number(text) <= maxReplyParts ? Number(text) : undefined,
  },
  personId: uuid('The person.'),
  receiver: {
    schema: Type.String({
      description: 'The destination’s name, as listed.',
      examples: ['customer.example'],
      maxLength: 253,
    }),
    form: 'must be 1 to 253 printable ASCII characters without spaces',
    read: (text) => (/^[\x21-\x7e]{1,253}$/.test(text) ? text : undefined),
  },
  replyId: uuid('The reply.'),
  sha256: {
    schema: Type.String({
      description: 'SHA-256 of the content, in hex.',
      examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      pattern: '^[0-9a-f]{64}$',
    }),
    form: 'must be 64 hexadecimal digits in lower case',
    read: (text) => (/^[0-9a-f]{64}$/.test(text) ? text : undefined),
  },
  sessionId: uuid('The session.'),
  starterId: publicId('The starter.', 'receipt'),
  templateId: publicId('The template.', 'receipt'),
  version: {
    schema: Type.Integer({
      description: 'The version number.',
      minimum: 1,
      maximum: 999_999_999,
    }),
    form: 'must be a whole number from 1 to 999999999',
    read: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
  },
  webhookId: uuid('The webhook.'),
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
