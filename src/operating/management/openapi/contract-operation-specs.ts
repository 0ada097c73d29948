import { type TSchema, Type } from 'typebox';
import {
  IntrospectionSchema,
  OAuthErrorSchema,
  OwnTokenFormSchema,
  ServerMetadataSchema,
  TokenFormSchema,
  TokenSchema,
} from '../../../accounts/oauth/token-schemas.ts';
import { NamedObject, OpenObject } from '../../../base/values/common-schemas.ts';
import { listNumbers } from '../../../content/list/list-query.ts';
import { ListingErrorSchema, ListingSchema } from '../../../content/list/listing-schema.ts';
import { MessageStatusSchema } from '../../../content/message/message-view.ts';
import { FaultSchema } from '../../../host/http/error-catalog.ts';
import { ProgressSchema } from '../../../outcomes/progress/describe-progress.ts';
import { AcceptedSchema, BatchResultsSchema } from '../../../sending/submission/answer-schemas.ts';
import {
  batchBodySchema,
  contentBodySchema,
  sendBodySchema,
} from '../../../sending/submission/send-body-schema.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

/** Documents an operation of the contract; it's implemented in its own module. */
export interface ContractOperationSpec {
  readonly id: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** False: no authentication, or credentials in the form. */
  readonly bearer: boolean;
  /** Client credentials can also be sent with HTTP Basic. */
  readonly basic?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly type: string; readonly schema: TSchema };
  /** Description and body schema by status, and another media type than JSON that it can also have, as text. */
  readonly answers: Readonly<
    Record<number, readonly [description: string, TSchema | undefined, other?: string]>
  >;
}

/** An error outside of the contract. */
const PlainErrorSchema = OpenObject('PlainError', {
  status: Type.Integer(),
  message: Type.String(),
  requestId: Type.String(),
});

function pathParameter(name: string, description: string, example: string, max = 64): Parameter {
  const schema = Type.String({ examples: [example], maxLength: max });
  return { name, in: 'path', required: true, description, schema };
}

function queryParameter(name: string, required: boolean, description: string): Parameter {
  return { name, in: 'query', required, description, schema: Type.String() };
}

const idempotencyParameter: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Requests with the same key and body within 24 hours are sent once.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const templateParameters = [
  pathParameter('account_id', 'The account.', '1000'),
  pathParameter('template_id', 'The email template.', 'receipt'),
];

const sendFaults: ContractOperationSpec['answers'] = {
  400: [
    'Invalid ID, Validation Failed, Sender Not Allowed, Personalization Failure, or the recipient is suppressed.',
    FaultSchema,
  ],
  401: ['Unauthorized Request, or Account Temporarily Suspended.', FaultSchema],
  409: ['A request with this Idempotency-Key is still in progress.', FaultSchema],
  422: ['This Idempotency-Key was used with a different request.', FaultSchema],
  429: ['Quota Exceeded.', FaultSchema],
  500: ['Internal Server Error.', FaultSchema],
  503: [
    'IO Exception was encountered: the service is over capacity or can’t reach its database. If the database stopped responding during a commit, the message may have been accepted; retry with the same Idempotency-Key and it is sent only once.',
    FaultSchema,
  ],
};

const clientFaults: ContractOperationSpec['answers'] = {
  401: ['Unknown client or wrong secret.', OAuthErrorSchema],
  405: ['Not POST.', OAuthErrorSchema],
  500: ['Internal error.', OAuthErrorSchema],
  503: ['Temporarily unavailable; see Retry-After.', OAuthErrorSchema],
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
    basic: true,
    parameters: [queryParameter('grant_type', false, 'Read only if the form has none.')],
    body: { type: 'application/x-www-form-urlencoded', schema: TokenFormSchema },
    answers: {
      200: ['A new token pair.', TokenSchema],
      400: ['Invalid request, grant or scope.', OAuthErrorSchema],
      ...clientFaults,
      429: ['Too many initial token requests; see Retry-After.', OAuthErrorSchema],
    },
  },
  {
    id: 'revokeToken',
    method: 'post',
    path: '/revoke',
    tag: 'Session authentication',
    summary: 'Revoke a token',
    description: 'RFC 7009. 200 even if the client has no such token.',
    bearer: false,
    basic: true,
    body: { type: 'application/x-www-form-urlencoded', schema: OwnTokenFormSchema },
    answers: {
      200: ['The token no longer works.', OpenObject('Revoked', {})],
      400: ['Invalid request.', OAuthErrorSchema],
      ...clientFaults,
    },
  },
  {
    id: 'introspectToken',
    method: 'post',
    path: '/introspect',
    tag: 'Session authentication',
    summary: 'Check whether a token works, and whose it is',
    description: 'RFC 7662. For tokens of the client itself.',
    bearer: false,
    basic: true,
    body: { type: 'application/x-www-form-urlencoded', schema: OwnTokenFormSchema },
    answers: {
      200: ['`active`, and if it is true, the other members.', IntrospectionSchema],
      400: ['Invalid request.', OAuthErrorSchema],
      ...clientFaults,
    },
  },
  {
    id: 'getServerMetadata',
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    tag: 'Session authentication',
    summary: 'Get the endpoints and capabilities for OAuth clients',
    description: 'RFC 8414. Pages of every origin can read it.',
    bearer: false,
    answers: {
      200: ['The metadata.', ServerMetadataSchema],
      400: [
        'Requested at `localhost`, but the issuer is a loopback address; the error names the address to use.',
        OAuthErrorSchema,
      ],
    },
  },
  {
    id: 'authorize',
    method: 'get',
    path: '/authorize',
    tag: 'Session authentication',
    summary: 'Authorize an integration',
    description:
      'For browsers: shows a consent page, then redirects to the registered redirect URL with `code`, and `state` if it was sent.',
    bearer: false,
    parameters: [
      queryParameter('scope', true, '`PRODUCTION`.'),
      queryParameter('response_type', true, '`code`.'),
      queryParameter('client_id', true, 'The client ID of the registered integration.'),
      queryParameter('state', false, 'Returned unchanged to the redirect URL.'),
      queryParameter('redirect_uri', false, 'The registered redirect URL.'),
      queryParameter('code_challenge', false, 'PKCE (RFC 7636).'),
      queryParameter('code_challenge_method', false, '`S256`.'),
    ],
    answers: {
      200: ['The consent page.', undefined],
      303: ['To the sign-in page, or to the registered redirect URL.', undefined],
      400: ['An error page: unknown client or redirect URL.', undefined],
      409: [
        'A page: the session is of an account’s provider, and the person uses the client beyond that account.',
        undefined,
      ],
    },
  },
  {
    id: 'sendEmail',
    method: 'post',
    path: '/ete/v1/email/{account_id}/{template_id}',
    tag: 'Event-triggered email',
    summary: 'Send one email from a stored template',
    description:
      'Returns 200 once the message is durably stored. The first check that fails determines the error; `details` lists every problem of that kind.',
    bearer: true,
    parameters: [...templateParameters, idempotencyParameter],
    body: {
      type: 'application/json',
      schema: NamedObject('SendRequest', sendBodySchema.properties),
    },
    answers: { 200: ['Successfully Accepted.', AcceptedSchema], ...sendFaults },
  },
  {
    id: 'sendContent',
    method: 'post',
    path: '/ete/v1/email/{account_id}',
    tag: 'Event-triggered email',
    summary: 'Send one email whose content is in the request',
    description:
      'For an API key with the permission `messages:send-content`; access tokens can’t have it. The checks are those of sending from a stored template, without the template. Each address of To, Cc and Bcc gets a message of its own and counts as one recipient; the headers show To and Cc. Links and opens aren’t tracked unless you ask for it.',
    bearer: true,
    parameters: [pathParameter('account_id', 'The account.', '1000'), idempotencyParameter],
    body: { type: 'application/json', schema: contentBodySchema },
    answers: {
      200: [
        'Successfully Accepted, with the ID of the To address’s message. `suppressedRecipients` has the Cc and Bcc addresses that were left out.',
        AcceptedSchema,
      ],
      ...sendFaults,
    },
  },
  {
    id: 'sendBatch',
    method: 'post',
    path: '/ete/v1/email/{account_id}/{template_id}/batch',
    tag: 'Event-triggered email',
    summary: 'Send up to 1,000 emails from a stored template',
    description:
      'For each message, returns what the send operation would return, in order, with its `status`. An error in one message doesn’t affect the others. An error that concerns all messages, such as an invalid token or template, is returned as for a single message. At most 10 MiB. The `Idempotency-Key` header is refused; each message can have an `idempotencyKey`.',
    bearer: true,
    parameters: templateParameters,
    body: { type: 'application/json', schema: batchBodySchema },
    answers: {
      200: ['The result of each message.', BatchResultsSchema],
      400: ['Invalid ID, or Validation Failed: the body is not a batch.', FaultSchema],
      401: ['Unauthorized Request, or Account Temporarily Suspended.', FaultSchema],
      500: ['Internal Server Error.', FaultSchema],
      503: ['IO Exception was encountered: nothing was accepted. See Retry-After.', FaultSchema],
    },
  },
  {
    id: 'getMessageStatus',
    method: 'get',
    path: '/ete/v1/message/{account_id}/{message_id}',
    tag: 'Event-triggered email',
    summary: 'Get the status of a message',
    description: 'State, recipients, events, and the next attempt with its reason.',
    bearer: true,
    parameters: [
      pathParameter('account_id', 'The account.', '1000'),
      pathParameter('message_id', 'The message.', '01a210b8-b187-7361-88be-ae3209a56fef'),
    ],
    answers: {
      200: ['The message.', MessageStatusSchema],
      400: ['Invalid ID.', FaultSchema],
      401: ['Unauthorized Request.', FaultSchema],
      500: ['Internal Server Error.', FaultSchema],
      503: ['IO Exception was encountered.', FaultSchema],
    },
  },
  {
    id: 'getProgress',
    method: 'get',
    path: '/status/{token}',
    tag: 'Event-triggered email',
    summary: 'Get the progress of a message for the person who waits',
    description:
      'The `statusUrl` of a response; it works for 15 minutes. With `Accept: text/event-stream`, the progress is sent after each change, until it is final (server-sent events). Pages of every origin can read it.',
    bearer: false,
    parameters: [
      pathParameter('token', 'Of the link.', 'tVgBoRC4sYdzYYi-rjIJpW_vAAAxMDAw', 132),
      queryParameter('lang', false, '`en`, `de`, `fr` or `es`. Default: that of the browser.'),
    ],
    answers: {
      200: ['The progress.', ProgressSchema, 'text/event-stream'],
      204: ['A stream that ended isn’t continued.', undefined],
      404: ['The link is incomplete or wrong.', PlainErrorSchema],
      410: ['The link has expired, or the message is deleted.', ProgressSchema],
      429: ['Too many requests or streams; see Retry-After.', PlainErrorSchema],
      500: ['Internal Server Error.', FaultSchema],
      503: ['IO Exception was encountered; see Retry-After.', FaultSchema],
    },
  },
  {
    id: 'listContactLists',
    method: 'get',
    path: '/api/1/list',
    tag: 'Lists',
    summary: 'List the contact lists of the token’s account',
    description:
      'With a password grant token: the account of the first membership, or the one in X-Account-Id.',
    bearer: true,
    parameters: [
      ...Object.entries(listNumbers).map(
        ([name, { minimum, maximum, default: defaultNumber, what }]) => ({
          name,
          in: 'query' as const,
          required: false,
          description: `${what} Default ${defaultNumber}.`,
          schema: Type.Integer({ minimum, maximum }),
        }),
      ),
      queryParameter(
        'listingtype',
        false,
        'Default `CONTACT_LIST`, the only kind this service stores.',
      ),
      {
        name: 'X-Account-Id',
        in: 'header',
        required: false,
        description: 'An account the token has access to.',
        schema: Type.String(),
      },
    ],
    answers: {
      200: ['The lists.', ListingSchema],
      400: ['Invalid parameter.', ListingErrorSchema],
      401: ['Unauthorized Request, or Account Temporarily Suspended.', FaultSchema],
      500: ['Internal Server Error.', FaultSchema],
      503: ['IO Exception was encountered.', FaultSchema],
    },
  },
];
