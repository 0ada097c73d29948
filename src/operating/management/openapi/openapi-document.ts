import type { TSchema } from 'typebox';
import { problemCatalog } from '../answer/problem.ts';
import { managementPrefix } from '../management-limits.ts';
import { pathParamNames, pathParams } from '../path-params.ts';
import type { ManagementRoute } from '../resource-routes.ts';
import { routeTable } from '../route-table.ts';
import { type ContractOperationSpec, contractOperationSpecs } from './contract-operation-specs.ts';
import { introduction } from './introduction.ts';
import { exampleOf, NamedSchemas, ProblemSchema, type SchemaJson } from './named-schemas.ts';

type Paths = Record<string, Readonly<Record<string, unknown>>>;

const tags: readonly (readonly [string, string])[] = [
  ['Event-triggered email', 'Send one email to one recipient in response to an event.'],
  ['Session authentication', 'Access tokens and refresh tokens.'],
  ['Lists', 'Contact lists of an account, as the contract defines them.'],
  ['Set-up', 'First owner and current caller.'],
  ['Installation', 'Settings and data managed by operators.'],
  ['Account', 'Accounts, users and audit log.'],
  ['Senders', 'Sender addresses and sending domains.'],
  [
    'API keys and OAuth apps',
    'API keys for your own programs, and OAuth apps, which the contract calls integrations.',
  ],
  ['Templates', 'Templates, their drafts and versions.'],
  ['Contacts', 'Contact lists and contacts.'],
  ['Messages', 'Message log and sending queue.'],
  ['Suppressions', 'Addresses excluded from sending.'],
  ['Privacy', 'Retention, export and erasure of personal data.'],
  ['Reports', 'Delivery statistics and what needs attention.'],
  ['Webhooks', 'Event notifications over HTTP.'],
  ['Inbox', 'Captured mail, with DELIVERY=inbox.'],
];

const tagOfSegment: Readonly<Record<string, string>> = {
  'set-up': 'Set-up',
  me: 'Set-up',
  installation: 'Installation',
  accounts: 'Account',
  users: 'Account',
  audit: 'Account',
  'quota-use': 'Account',
  senders: 'Senders',
  domains: 'Senders',
  integrations: 'API keys and OAuth apps',
  keys: 'API keys and OAuth apps',
  templates: 'Templates',
  lists: 'Contacts',
  messages: 'Messages',
  events: 'Messages',
  queue: 'Messages',
  suppressions: 'Suppressions',
  'suppressions-export': 'Suppressions',
  'suppressions-imports': 'Suppressions',
  reports: 'Reports',
  'reports-export': 'Reports',
  attention: 'Reports',
  'retention-rule': 'Privacy',
  people: 'Privacy',
  webhooks: 'Webhooks',
  inbox: 'Inbox',
};

/** The contract and the management API as OpenAPI 3.1, built from the schemas that validate requests. */
export function openapiDocument(version: string): Record<string, unknown> {
  const schemas = new NamedSchemas();
  const paths: Paths = {};
  for (const operation of contractOperationSpecs) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method]: describeContract(operation, schemas) };
  }
  for (const route of routeTable) {
    const path = `${managementPrefix}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, schemas) };
  }
  const problem = schemas.reference(ProblemSchema);
  const used = new Set(
    Object.values(paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap((operation) => (operation as { readonly tags: readonly string[] }).tags),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalpost',
      version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: tags
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components(),
      responses: { Problem: problemAnswer(problem) },
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key; or an access token from `/token`, to send, read message status and read lists.',
        },
        clientCredentials: {
          type: 'http',
          scheme: 'basic',
          description: 'Client ID and secret of an OAuth app, instead of those in the form.',
        },
        browserSession: {
          type: 'apiKey',
          in: 'cookie',
          name: 'signalpost',
          description:
            'A signed-in browser. Changes require the `X-Signalpost-Request` header and the same origin. Over TLS, the cookie is named `__Host-signalpost`.',
        },
      },
    },
  };
}

function problemAnswer(schema: SchemaJson): unknown {
  return {
    description: 'An error, as problem details (RFC 9457).',
    content: { 'application/problem+json': { schema } },
  };
}

function describeContract(operation: ContractOperationSpec, schemas: NamedSchemas): unknown {
  const { id, tag, summary, description, bearer, basic, parameters, body, answers } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: bearer
      ? [{ accessToken: [] }]
      : basic === true
        ? [{}, { clientCredentials: [] }]
        : [],
    ...(parameters === undefined
      ? {}
      : {
          parameters: parameters.map((parameter) => ({
            ...parameter,
            ...(parameter.in === 'path'
              ? { example: exampleOf(schemas.reference(parameter.schema)) }
              : {}),
            schema: schemas.reference(parameter.schema),
          })),
        }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [body.type]: described(body.type, body.schema, schemas) },
          },
        }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, [text, schema, other]]) => [
        status,
        {
          description: text,
          ...(schema === undefined ? {} : json(schemas.reference(schema), other)),
        },
      ]),
    ),
  };
}

function described(
  type: string | undefined,
  schema: TSchema,
  schemas: NamedSchemas,
): Record<string, unknown> {
  const isJson = type === undefined || type === 'application/json';
  return {
    schema: schemas.reference(schema),
    ...(isJson ? { example: exampleOf(schema as unknown as SchemaJson) } : {}),
  };
}

/** @param other another media type, as text */
function json(schema: SchemaJson, other?: string): { content: Record<string, unknown> } {
  return {
    content: {
      'application/json': { schema },
      ...(other === undefined ? {} : { [other]: { schema: { type: 'string' } } }),
    },
  };
}

function describeRoute(route: ManagementRoute, schemas: NamedSchemas): unknown {
  const { access, operation, path } = route;
  const { id, summary, body, accepts, conditional } = operation;
  const parameters = [
    ...pathParameters(path, schemas),
    ...queryParameters(operation.query, schemas),
  ];
  if (conditional === true) parameters.push(...preconditions);
  if (isRevalidated(route)) parameters.push(knownTag);
  return {
    operationId: id,
    tags: [tagOf(path)],
    summary,
    ...describeAccess(route),
    security: access === 'public' ? [] : [{ accessToken: [] }, { browserSession: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: hasRequiredMembers(body),
            content: {
              [accepts ?? 'application/json']: described(accepts, body, schemas),
            },
          },
        }),
    responses: { ...success(route, schemas), ...refusals(route) },
  };
}

/** The tag of the last path segment that has one. */
function tagOf(path: string): string {
  const tag = path
    .split('/')
    .slice(0, path.startsWith('/installation') ? 2 : undefined)
    .map((segment) => tagOfSegment[segment])
    .filter((name) => name !== undefined)
    .at(-1);
  if (tag === undefined) throw new Error(`the path ${path} has no tag`);
  return tag;
}

function describeAccess({ access, operation }: ManagementRoute): {
  description: string;
  'x-access': string;
} {
  const who =
    access === 'public'
      ? 'No authentication required.'
      : access === 'signed-in'
        ? 'Requires authentication.'
        : access === 'operate'
          ? 'Operators only.'
          : `Requires the permission \`${access}\`.`;
  const { description, confirmed } = operation;
  const when =
    confirmed === true
      ? 'People in a browser must have confirmed who they are in the last 10 minutes.'
      : undefined;
  return {
    description: [description, who, when].filter((part) => part !== undefined).join(' '),
    'x-access': access,
  };
}

function hasRequiredMembers(body: TSchema): boolean {
  const { required } = body as { readonly required?: readonly string[] };
  return required !== undefined && required.length > 0;
}

function pathParameters(path: string, schemas: NamedSchemas): unknown[] {
  return pathParamNames(path).map((name) => {
    const { description, ...schema } = schemas.reference(pathParams[name].schema);
    const example = exampleOf(schema);
    return { name, in: 'path', required: true, description, example, schema };
  });
}

function queryParameters(
  query: ManagementRoute['operation']['query'],
  schemas: NamedSchemas,
): unknown[] {
  const requiredNames =
    (query as { readonly required?: readonly string[] } | undefined)?.required ?? [];
  return Object.entries(query?.properties ?? {}).map(([name, value]) => {
    const { description, ...schema } = schemas.reference(value);
    return {
      name,
      in: 'query',
      required: requiredNames.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
    };
  });
}

const preconditions = [
  {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag you read; 412 if the resource has changed since.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: '`*`: only create; 412 if the resource exists.',
    schema: { type: 'string' },
  },
];

const knownTag = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag you have; 304 if nothing has changed.',
  schema: { type: 'string' },
};

function isRevalidated({ method, operation }: ManagementRoute): boolean {
  return method === 'GET' && operation.answer !== undefined && operation.produces === undefined;
}

function success(
  { method, operation }: ManagementRoute,
  schemas: NamedSchemas,
): Record<string, unknown> {
  const { answer, produces, alsoProduces, status, conditional } = operation;
  if (produces !== undefined) {
    const content = { [produces]: { schema: { type: 'string' } } };
    return { 200: { description: 'The file.', content } };
  }
  if (answer === undefined) return { 204: { description: 'Success without content.' } };
  const body = {
    description: 'Success.',
    headers: { ETag: { description: 'For If-Match.', schema: { type: 'string' } } },
    ...json(schemas.reference(answer), alsoProduces),
  };
  if (conditional === true && status === undefined)
    return { 200: body, 201: { ...body, description: 'Created.' } };
  const unchanged = method === 'GET' ? { 304: notModified } : {};
  return { [status ?? 200]: body, ...unchanged };
}

/** RFC 9110 section 15.4.5. */
const notModified = {
  description: 'Unchanged since the response with the ETag in `If-None-Match`.',
  headers: { ETag: { description: 'As in that response.', schema: { type: 'string' } } },
};

function refusals({ access, path, method, operation }: ManagementRoute): Record<string, unknown> {
  const statuses = new Set([500, 503]);
  if (access !== 'public') statuses.add(401);
  if (access !== 'public') statuses.add(403);
  if (access === 'public' || path.includes(':')) statuses.add(404);
  if (method !== 'GET')
    for (const status of [400, 403, 408, 409, 413, 415, 429]) statuses.add(status);
  // Unknown query parameters are refused everywhere.
  statuses.add(422);
  if (operation.conditional === true) statuses.add(412);
  if (operation.conflict === true) statuses.add(409);
  if (operation.gone === true) statuses.add(410);
  if (operation.limited === true || path.includes(':accountId')) statuses.add(429);
  const knownStatuses: ReadonlySet<number> = new Set(
    Object.values(problemCatalog).map(({ status }) => status),
  );
  return Object.fromEntries(
    [...statuses]
      .filter((status) => knownStatuses.has(status))
      .map((status) => [status, { $ref: '#/components/responses/Problem' }]),
  );
}
