import { type TSchema, Type } from 'typebox';
import { parseDomainName } from '../foundation/domain-name.ts';
import { normalizeAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { isPublicId, parseMessageId } from '../foundation/ids.ts';
import { systemMailKinds } from '../outbox/system-mail.ts';
import { Problem } from './answer/problem.ts';
import type { PathParams } from './operation.ts';

interface PathParam {
  readonly schema: TSchema;
  /** What its text has to be; goes on after the name of the parameter. */
  readonly form: string;
  /** The value in its valid form; undefined where the text can name nothing. */
  read(text: string): string | number | undefined;
}

function publicId(description: string): PathParam {
  return {
    schema: Type.String({ description, pattern: '^[A-Za-z0-9_-]{1,64}$' }),
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
    schema: Type.String({ description, maxLength: 320 }),
    form: 'must be an e-mail address',
    read(text) {
      const parsed = parseEmailAddress(text);
      return parsed.ok ? normalizeAddress(parsed.address) : undefined;
    },
  };
}

function domain(description: string): PathParam {
  return {
    schema: Type.String({ description, maxLength: 253 }),
    form: 'must be a domain name of several labels, such as mail.example.com',
    read: parseDomainName,
  };
}

/** Every parameter that a path may name: what it may be and how it is read. */
export const pathParams: Readonly<Record<keyof PathParams, PathParam>> = {
  accountId: publicId('The account.'),
  address: address('The e-mail address, in any case.'),
  clientId: publicId('The client id of the integration.'),
  destination: {
    schema: Type.String({
      description: 'A domain that mail goes to, or `*` for all.',
      maxLength: 253,
    }),
    form: 'must be a domain name of several labels, or *',
    read: (text) => (text === '*' ? text : parseDomainName(text)),
  },
  domain: domain('The domain.'),
  email: address('The e-mail address of the person, in any case.'),
  importId: uuid('The import, a UUID that the caller chooses.'),
  inboxMessageId: uuid('The message of the inbox.'),
  keyId: uuid('The key.'),
  listId: publicId('The contact list.'),
  mailKind: {
    schema: Type.Enum([...systemMailKinds], { description: 'The kind of mail.' }),
    form: `must be one of ${systemMailKinds.join(', ')}`,
    read: (text) => systemMailKinds.find((kind) => kind === text),
  },
  messageId: uuid('The message.'),
  personId: uuid('The person.'),
  receiver: {
    schema: Type.String({ description: 'The name of the receiver, as listed.', maxLength: 253 }),
    form: 'must be 1 to 253 printable ASCII characters without spaces',
    read: (text) => (/^[\x21-\x7e]{1,253}$/.test(text) ? text : undefined),
  },
  sessionId: uuid('The session.'),
  templateId: publicId('The template.'),
  version: {
    schema: Type.Integer({
      description: 'The number of the version.',
      minimum: 1,
      maximum: 999_999_999,
    }),
    form: 'must be a whole number from 1 to 999999999',
    read: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
  },
  webhookId: uuid('The webhook.'),
  deliveryId: uuid('The delivery.'),
};

/** The names of the parameters of a path such as `/accounts/:accountId`. */
export function pathParamNames(path: string): (keyof PathParams)[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as keyof PathParams);
}

/** What cannot be a name of anything is not there; the answer says what the name has to be. */
export function malformedParam(name: keyof PathParams): Problem {
  const { form } = pathParams[name];
  return new Problem('not-found', `${name} ${form}`, { errors: [{ field: name, reason: form }] });
}
