import fc from 'fast-check';
import { dropIns } from '../../../src/drop-in/drop-ins.ts';
import { limitsOf } from '../../../src/drop-in/provider/drop-in-routes.ts';
import type { MemberTable } from '../../../src/drop-in/provider/members.ts';
import {
  mebibyte,
  type RouteLimit,
  routeLimits,
  sendBodyBytes,
} from '../../../src/host/http/limits/route-limits.ts';
import { routeLimitOf } from '../../../src/operating/management/management-limits.ts';
import type { ManagementOperation } from '../../../src/operating/management/operation.ts';
import { routeTable } from '../../../src/operating/management/route-table.ts';
import {
  contentBodySchema,
  sendBodySchema,
} from '../../../src/sending/submission/send-body-schema.ts';
import { type AnyBody, anyBody } from './any-body.ts';
import { anyPath, anyQuery, type Names } from './any-path.ts';
import { anyValue, type JsonSchema } from './any-value.ts';

/** One method of one line of the route tables. */
export interface RouteLine {
  readonly method: string;
  readonly limit: RouteLimit;
  readonly endpoint: ManagementOperation | undefined;
  /** The body of a call of a provider's API. */
  readonly members?: MemberTable | undefined;
}

export const routeLines: readonly RouteLine[] = [
  ...routeLimits.flatMap((limit) =>
    limit.methods.map((method) => ({ method, limit, endpoint: undefined })),
  ),
  ...Object.values(dropIns).flatMap((dropIn) =>
    limitsOf(dropIn).flatMap((limit, index) =>
      limit.methods.map((method) => {
        const members = dropIn.calls[index]?.members?.[''];
        return { method, limit, endpoint: undefined, members };
      }),
    ),
  ),
  ...routeTable.map((route) => ({
    method: route.method,
    limit: routeLimitOf(route),
    endpoint: route.operation,
  })),
];

/** How the length of a body is declared. */
const framings = ['as it is', 'chunked', 'too short', 'too long', 'nonsense', 'twice'] as const;
type Framing = (typeof framings)[number];

export interface AnyRequest {
  readonly line: RouteLine;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnyBody | undefined;
  readonly framing: Framing;
}

/** The largest body of one request that is written to disk. Requests that declare a length over the limit aren't capped. */
const maxSentBytes = 4 * mebibyte;

/** Requests of every shape for a route. The caller's own header fields are added later. */
export function anyRequest(line: RouteLine, names: Names): fc.Arbitrary<AnyRequest> {
  const { method, limit, endpoint } = line;
  const otherMethod = fc.constantFrom('PATCH', 'OPTIONS', 'DELETE', 'PUT', 'POST', 'GET');
  return fc.record({
    line: fc.constant(line),
    method: fc.oneof(
      { arbitrary: fc.constant(method), weight: 40 },
      { arbitrary: otherMethod, weight: 1 },
    ),
    target: fc
      .tuple(
        anyPath(limit.path, names),
        anyQuery((endpoint?.query as object as JsonSchema | undefined) ?? queryOf(limit)),
      )
      .map(([path, query]) => (query === '' ? path : `${path}?${query}`)),
    headers: anyHeaders,
    body: fc.option(anyBodyOf(line), { freq: method === 'GET' ? 1 : 15, nil: undefined }),
    framing: fc.oneof(
      { arbitrary: fc.constant<Framing>('as it is'), weight: 30 },
      { arbitrary: fc.constantFrom(...framings), weight: 1 },
    ),
  });
}

function anyBodyOf({ limit, endpoint, method, members }: RouteLine): fc.Arbitrary<AnyBody> {
  const maxBytes = Math.min(maxSentBytes, method === 'GET' ? 4_096 : limit.bodyBytes);
  if (endpoint?.accepts !== undefined) return anyBody(anyValue(csvRow), 'csv', maxBytes);
  if (limit.path === '/ses') return anyBody(anyValue(queryForm), 'form', maxBytes);
  if (members !== undefined) {
    const kind = limit.path.startsWith('/mailgun') ? 'form' : 'json';
    return anyBody(anyValue(members.schema as object as JsonSchema), kind, maxBytes);
  }
  const sendSchema = limit.path.endsWith('/:accountId') ? contentBodySchema : sendBodySchema;
  const schema = limit.bodyBytes === sendBodyBytes ? sendSchema : endpoint?.body;
  if (schema !== undefined)
    return anyBody(anyValue(schema as object as JsonSchema), 'json', maxBytes);
  if (endpoint !== undefined || limit.path.startsWith('/intake'))
    return anyBody(anyValue(notice), 'json', maxBytes);
  return anyBody(anyValue(form), 'form', maxBytes);
}

const text = (...values: readonly string[]): JsonSchema => ({ enum: [...values, ''] });
const optional = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
});
const free: JsonSchema = { type: 'string', maxLength: 40 };

/** The forms of version 1 of Amazon SES. */
const queryForm = optional({
  Action: text('SendEmail', 'SendRawEmail', 'SendTemplatedEmail', 'ListIdentities'),
  Source: text('orders@shop.test', 'Shop <orders@shop.test>', '<'),
  'Destination.ToAddresses.member.1': text('ann@shop.test', 'ann'),
  'Destinations.member.1': text('ann@shop.test', 'ann'),
  'Message.Subject.Data': { type: 'string', maxLength: 40 },
  'Message.Body.Text.Data': { type: 'string', maxLength: 40 },
  'RawMessage.Data': text('RnJvbTogb3JkZXJzQHNob3AudGVzdA0KDQo=', 'AAAA', '%'),
  Template: text('t-0001', 'toString'),
  TemplateData: text('{}', '{"Order Number":{}}', '['),
  'Tags.member.1.Name': text('a', '__proto__'),
  'Tags.member': text('a'),
});

/** The fields of all forms of the service. */
const form = optional({
  grant_type: text('password', 'authorization_code', 'refresh_token', 'client_credentials'),
  username: free,
  password: free,
  client_id: text('client2', 'client1'),
  client_secret: free,
  refresh_token: free,
  code: free,
  redirect_uri: text('https://localhost/callback', 'https://evil.test'),
  scope: text('PRODUCTION'),
  response_type: text('code'),
  state: free,
  token: free,
  email: free,
  csrf: free,
  language: text('en', 'de'),
  next: text('/console', '//evil.test'),
  decision: text('allow', 'deny'),
});

/** Roughly what relays report. */
const notice = optional({
  Type: text('Notification', 'SubscriptionConfirmation'),
  MessageId: free,
  TopicArn: text('arn:aws:sns:eu-west-1:1:reports'),
  Message: free,
  SignatureVersion: text('1', '2'),
  SigningCertURL: text('https://sns.eu-west-1.amazonaws.com/x.pem', 'https://evil.test/x.pem'),
  Signature: free,
  signature: optional({ timestamp: free, token: free, signature: free }),
  RecordType: text('Bounce', 'SpamComplaint'),
  Email: free,
});

const csvRow = optional({ email: free, 'First Name': free });

/** The query of `/authorize` and of other pages opened by a link. */
function queryOf({ path }: RouteLimit): JsonSchema | undefined {
  if (path === '/authorize' || path.startsWith('/sign-in')) return form;
  return path.startsWith('/inbox') ? optional({ code: free, since: free, to: free }) : undefined;
}

const anyHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 12 },
  fc.constantFrom<Readonly<Record<string, string>>>(
    { 'if-match': '*' },
    { 'if-match': '"x"' },
    { 'if-none-match': '*' },
    { 'if-none-match': `"${'x'.repeat(3_000)}"` },
    { 'idempotency-key': 'k' },
    { 'idempotency-key': 'k'.repeat(4_000) },
    { 'content-encoding': 'gzip' },
    { expect: '100-continue' },
    { 'accept-language': 'de;q=x,*;q=-1,,,' },
    { accept: '*/*;q=x' },
    { range: 'bytes=0-' },
    { cookie: 'a=b; %=%; signalpost_session=x; __Host-signalpost=\xff' },
    { authorization: 'Bearer' },
    { authorization: `Bearer ${'x'.repeat(8_000)}` },
    { authorization: 'Bearer sp_46100_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' },
    { authorization: 'Basic eDp5' },
    { authorization: 'Basic \xff' },
    { 'x-forwarded-for': 'junk, 999.1.1.1, ::::' },
    { origin: 'null' },
    { 'x-http-method-override': 'DELETE' },
    { 'x-y': 'y'.repeat(20_000) },
  ),
);
