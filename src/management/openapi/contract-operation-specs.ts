import { type TSchema, Type } from 'typebox';
import { MessageStatusSchema } from '../../message/message-view.ts';
import { sendBodySchema } from '../../submission/send-body-schema.ts';
import {
  AcceptedSchema,
  FaultSchema,
  ListingErrorSchema,
  ListingSchema,
  OAuthErrorSchema,
  TokenSchema,
} from './shared-schemas.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

/** An operation of the contract, for the document; its behaviour stands in its own room. */
export interface ContractOperationSpec {
  readonly id: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** False: none, or the credentials stand in the form. */
  readonly bearer: boolean;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly type: string; readonly schema: TSchema };
  /** Schema of the body by status; undefined: none that matters. */
  readonly answers: Readonly<Record<number, readonly [description: string, TSchema | undefined]>>;
}

function text(description: string): TSchema {
  return Type.String({ description });
}

function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', required: true, description, schema: Type.String({ maxLength: 64 }) };
}

function queryParameter(name: string, required: boolean, description: string): Parameter {
  return { name, in: 'query', required, description, schema: Type.String() };
}

const tokenForm = Type.Object(
  {
    grant_type: Type.Enum(['password', 'authorization_code', 'refresh_token']),
    client_id: text('The client id of the integration.'),
    client_secret: text('Its secret.'),
    username: Type.Optional(text('Password grant: the service user’s email address.')),
    password: Type.Optional(text('Password grant: the service user’s password.')),
    code: Type.Optional(text('Code grant: the grant code received at the redirect URL.')),
    redirect_uri: Type.Optional(text('Code grant: the registered redirect URI.')),
    code_verifier: Type.Optional(text('Code grant with PKCE (RFC 7636).')),
    refresh_token: Type.Optional(
      text('Refresh grant: the one from the most recent token response.'),
    ),
  },
  { title: 'TokenForm' },
);

const sendFaults: ContractOperationSpec['answers'] = {
  400: [
    'Invalid ID, Validation Failed, Sender Not Allowed, Personalization Failure or suppressed.',
    FaultSchema,
  ],
  401: ['Unauthorized Request, or Account Temporarily Suspended.', FaultSchema],
  409: ['A request with this Idempotency-Key is still under way.', FaultSchema],
  422: ['This Idempotency-Key was used with another request.', FaultSchema],
  429: ['Quota Exceeded.', FaultSchema],
  500: ['Internal Server Error.', FaultSchema],
  503: [
    'IO Exception was encountered: the service is over its capacity or without its database. Where the database fell silent in the middle of a commit, the message may have been accepted; a repetition with the same Idempotency-Key sends it once in any case.',
    FaultSchema,
  ],
};

/** The operations of the contract. */
export const contractOperationSpecs: readonly ContractOperationSpec[] = [
  {
    id: 'issueToken',
    method: 'post',
    path: '/token',
    tag: 'Session authentication',
    summary: 'Get an access token and a refresh token',
    description:
      'Password, code or refresh grant. Initial requests are limited per user and client; refresh requests are not.',
    bearer: false,
    body: { type: 'application/x-www-form-urlencoded', schema: tokenForm },
    answers: {
      200: ['A new pair of tokens.', TokenSchema],
      400: ['The request, grant or scope cannot be used.', OAuthErrorSchema],
      401: ['The client is unknown or its secret is wrong.', OAuthErrorSchema],
      429: ['The allowance of initial requests is used up; see Retry-After.', OAuthErrorSchema],
    },
  },
  {
    id: 'authorize',
    method: 'get',
    path: '/authorize',
    tag: 'Session authentication',
    summary: 'Ask a person to authorize an integration',
    description:
      'For browsers. Leads to the registered redirect URL with `code`, and `state` if it was sent.',
    bearer: false,
    parameters: [
      queryParameter('scope', true, '`PRODUCTION`.'),
      queryParameter('response_type', true, '`code`.'),
      queryParameter('client_id', true, 'The client id of the registered integration.'),
      queryParameter('state', false, 'Returned unchanged to the redirect URL.'),
      queryParameter('redirect_uri', false, 'The registered one.'),
      queryParameter('code_challenge', false, 'PKCE (RFC 7636).'),
      queryParameter('code_challenge_method', false, '`S256`.'),
    ],
    answers: {
      200: ['The page that asks.', undefined],
      303: ['To the sign-in page, or to the registered redirect URL.', undefined],
      400: ['An error page: the client or redirect URL is unknown.', undefined],
    },
  },
  {
    id: 'sendEmail',
    method: 'post',
    path: '/ete/v1/email/{account_id}/{template_id}',
    tag: 'Event-triggered email',
    summary: 'Send one email from a stored template',
    description:
      'Answers 200 once the message is committed and flushed. The first check that applies decides the answer; `details` lists every problem of that kind.',
    bearer: true,
    parameters: [
      pathParameter('account_id', 'The account.'),
      pathParameter('template_id', 'The email template.'),
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description: 'The same key and body within 24 hours is sent once.',
        schema: Type.String({ minLength: 1, maxLength: 255 }),
      },
    ],
    body: {
      type: 'application/json',
      schema: Type.Object(sendBodySchema.properties, {
        additionalProperties: false,
        title: 'SendRequest',
      }),
    },
    answers: { 200: ['Successfully Accepted.', AcceptedSchema], ...sendFaults },
  },
  {
    id: 'getMessageStatus',
    method: 'get',
    path: '/ete/v1/message/{account_id}/{message_id}',
    tag: 'Event-triggered email',
    summary: 'Ask how far a message is',
    description: 'State, recipients, events, next attempt and why.',
    bearer: true,
    parameters: [
      pathParameter('account_id', 'The account.'),
      pathParameter('message_id', 'The message.'),
    ],
    answers: {
      200: ['The message.', MessageStatusSchema],
      400: ['Invalid ID.', FaultSchema],
      401: ['Unauthorized Request.', FaultSchema],
      503: ['IO Exception was encountered.', FaultSchema],
    },
  },
  {
    id: 'listContactLists',
    method: 'get',
    path: '/api/1/list',
    tag: 'Lists',
    summary: 'List the contact lists of the token’s account',
    description:
      'For a password token that of the first membership, or the one named in X-Account-Id.',
    bearer: true,
    parameters: [
      {
        name: 'count',
        in: 'query',
        required: false,
        description: 'Lists of the answer. Default 100.',
        schema: Type.Integer({ minimum: 1, maximum: 1_000 }),
      },
      {
        name: 'offset',
        in: 'query',
        required: false,
        description: 'Lists before the first of the answer. Default 0.',
        schema: Type.Integer({ minimum: 0 }),
      },
      queryParameter('listingtype', false, 'Default `CONTACT_LIST`, the only kind stored.'),
      {
        name: 'X-Account-Id',
        in: 'header',
        required: false,
        description: 'An account of the token.',
        schema: Type.String(),
      },
    ],
    answers: {
      200: ['The lists.', ListingSchema],
      400: ['A parameter cannot be used.', ListingErrorSchema],
      401: ['Unauthorized Request, or Account Temporarily Suspended.', FaultSchema],
      503: ['IO Exception was encountered.', FaultSchema],
    },
  },
];
