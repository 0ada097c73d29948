import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../base/database/open-database.ts';
import type { SharedPool } from '../../base/database/shared-pool.ts';
import { type Holding, Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Http } from '../../host/http/create-http.ts';
import { bytesSent } from '../../host/http/limits/limit-responses.ts';
import { InboxStore } from '../../sending/inbox/inbox-store.ts';
import { QueueControlStore } from '../../sending/queue/control-store.ts';
import { admitActor, identifyActor } from './access/admit-actor.ts';
import { answerProblemDetails } from './answer/answer-problem-details.ts';
import { entityTag, matchesEntityTag } from './answer/entity-tag.ts';
import { notFound, Problem } from './answer/problem.ts';
import { InputChecker } from './check-input.ts';
import { removeOldRejected } from './import/import-store.ts';
import { RunningImports } from './import/running-imports.ts';
import type { ManagementDependencies } from './management-dependencies.ts';
import { managementPrefix, routeLimitOf } from './management-limits.ts';
import { registerDocumentRoutes, registerGuideRoutes } from './openapi/document-routes.ts';
import type { OperationCall } from './operation.ts';
import { malformedParam, type PathParams, pathParamNames, pathParams } from './path-params.ts';
import type { ManagementRoute } from './resource-routes.ts';
import { routeTable } from './route-table.ts';
import { splitReadOnly } from './save-resource.ts';

interface ManagementModuleDependencies
  extends Omit<
    ManagementDependencies,
    'changeSlots' | 'controls' | 'imports' | 'inbox' | 'stopping' | 'unlimitedDatabase'
  > {
  /** Database connections of the API. */
  readonly connections: SharedPool;
}

/** The management API, as seen by the rest of the service. */
interface Management {
  registerRoutes(http: Http): void;
  /** Stops background imports. No requests may follow. */
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/** Wires up the management API. */
export function createManagement(dependencies: ManagementModuleDependencies): Management {
  const { facts, connections } = dependencies;
  const stopping = new AbortController();
  const shared = {
    ...dependencies,
    stopping: stopping.signal,
    changeSlots: new Limiter(policies.changes),
    imports: new RunningImports(),
  };
  const dependenciesWith = (database: Database): ManagementDependencies => ({
    ...shared,
    database,
    unlimitedDatabase: dependencies.database,
    inbox: new InboxStore(database),
    controls: new QueueControlStore(database),
  });
  const installationDependencies = dependenciesWith(dependencies.database);
  const upkeep = new PeriodicTask(hourMs, () => removeOldRejected(dependencies.database.kysely), {
    onError: (error) =>
      dependencies.log.warn({ err: error }, 'could not remove rejected rows of old imports'),
  });
  upkeep.start();
  return {
    registerRoutes(http) {
      http.addHook('preClose', async () => stopping.abort());
      registerManagementRoutes(http, installationDependencies, (account) =>
        dependenciesWith(connections.forAccount(account)),
      );
      registerDocumentRoutes(http, facts.version);
      registerGuideRoutes(http);
    },
    async stop() {
      await upkeep.stop();
      await shared.imports.stop();
    },
  };
}

/**
 * Registers the route table under `/manage/v1`. Checks run in the order path, caller, permission, query, body. Responses
 * are private and carry an ETag; errors are problem details (RFC 9457).
 * @param dependenciesOf dependencies with the connection share of an account, or of a caller without one
 */
function registerManagementRoutes(
  http: Http,
  dependencies: ManagementDependencies,
  dependenciesOf: (share: string) => ManagementDependencies,
): void {
  const checker = new InputChecker();
  const shares = new Limiter(policies.managementRequests);
  http.register(
    async (scope) => {
      scope.setErrorHandler(answerProblemDetails);
      scope.setNotFoundHandler((request, reply) => answerUnknownPath(request, reply));
      // Fastify's own validation would coerce and drop values.
      scope.setValidatorCompiler(() => () => true);
      scope.setSerializerCompiler(() => JSON.stringify);
      // Fastify's default would pass plain text as a JSON string.
      scope.removeContentTypeParser('text/plain');
      scope.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
      for (const route of routeTable)
        registerRoute(scope, { dependencies, dependenciesOf, checker, shares }, route);
    },
    { prefix: managementPrefix },
  );
}

/** Path patterns of the table with their methods. */
const methodsByPath = new Map<string, { readonly pattern: RegExp; readonly methods: string[] }>();
for (const { method, path } of routeTable) {
  const known = methodsByPath.get(path);
  if (known !== undefined) known.methods.push(method);
  else {
    const pattern = new RegExp(`^${managementPrefix}${path.replaceAll(/:\w+/g, '[^/]+')}/?$`);
    methodsByPath.set(path, { pattern, methods: [method] });
  }
}

/** 404, or 405 with the allowed methods (RFC 9110 section 15.5.6). */
function answerUnknownPath(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ''] = request.url.split('?');
  const methods = [...methodsByPath.values()]
    .filter(({ pattern }) => pattern.test(path))
    .flatMap((known) => known.methods);
  if (methods.length === 0) return answerProblemDetails(notFound('endpoint'), request, reply);
  const allowed = [...new Set(methods)].join(', ');
  reply.header('allow', allowed);
  const problem = new Problem('method-not-allowed', `Allowed methods: ${allowed}`);
  return answerProblemDetails(problem, request, reply);
}

interface RouteContext {
  readonly dependencies: ManagementDependencies;
  readonly dependenciesOf: (share: string) => ManagementDependencies;
  readonly checker: InputChecker;
  /** Held while a request is handled, which begins once its body has arrived. */
  readonly shares: Limiter;
}

function registerRoute(
  scope: Http,
  { dependencies, dependenciesOf, checker, shares }: RouteContext,
  route: ManagementRoute,
): void {
  const { method, path, access, operation } = route;
  const { bodyValues } = routeLimitOf(route);
  const splitBody = splitReadOnly(operation);
  const calls = new WeakMap<FastifyRequest, Pick<OperationCall, 'params' | 'actor' | 'account'>>();
  scope.route({
    method,
    url: path,
    config: { access },
    // Runs before the body is read, so unauthenticated callers can't make the service buffer bodies.
    async onRequest(request) {
      const rawParams = request.params as Readonly<Record<string, string>>;
      const actor =
        access === 'public' ? undefined : await identifyActor(dependencies, request, access);
      const rule = {
        access,
        confirmed: operation.confirmed,
        leaving: operation.leaving ?? method === 'DELETE',
      };
      const admitted = await admitActor(dependencies, actor, rule, rawParams.accountId, request);
      calls.set(request, { params: readParams(path, rawParams), ...admitted });
    },
    async handler(request, reply) {
      reply.header('cache-control', 'private, no-cache');
      const admitted = calls.get(request);
      if (admitted === undefined) throw new Error('an unauthorized request reached its handler');
      const share =
        admitted.account === undefined || operation.longLived === true
          ? undefined
          : await holdShare(shares, admitted.account.id, reply);
      const query = checker.readQuery(operation, request.query);
      const { writable, readOnly, writesNothing } = splitBody(request.body);
      const body = writesNothing ? {} : checker.readBody(operation, writable, bodyValues);
      if (operation.status !== undefined) reply.code(operation.status);
      const callDependencies = dependenciesOf(shareOf(admitted));
      const { accountId } = request.params as Readonly<Record<string, string>>;
      const reauthorize = async (): Promise<void> => {
        const actor = await identifyActor(dependencies, request);
        await admitActor(dependencies, actor, { access }, accountId, request);
      };
      const requirePermission: OperationCall['requirePermission'] = async (permission, field) => {
        const needed = { access: permission, ...field };
        return (await admitActor(dependencies, admitted.actor, needed, accountId, request)).granted;
      };
      const checks = { reauthorize, requirePermission };
      const input = { query, body, readOnly, writesNothing, request, reply, ...checks };
      const { kysely } = callDependencies.database;
      const response = await operation.handle({
        dependencies: callDependencies,
        kysely,
        ...admitted,
        ...input,
      });
      const isSentByHandler =
        operation.produces !== undefined ||
        (operation.alsoProduces !== undefined && response === undefined);
      if (reply.sent || isSentByHandler) return reply;
      // How fast it is read is up to the client, and its memory is counted elsewhere.
      share?.release();
      return send(request, reply, response);
    },
  });
}

/**
 * Holds a slot, at most until the response ends. A client that reads a streamed response slowly makes room for others.
 * @throws Problem if too many requests of the account wait
 */
async function holdShare(
  shares: Limiter,
  account: AccountId,
  reply: FastifyReply,
): Promise<Holding> {
  const { socket } = reply.request;
  const before = bytesSent(socket);
  const evictable = {
    progress: () => (reply.raw.headersSent ? bytesSent(socket) - before : Number.POSITIVE_INFINITY),
    evict: () => socket.destroy(),
  };
  const holding = await shares.acquire(account, { evictable }).catch(() => {
    throw new Problem(
      'too-many-requests',
      'Your account has too many concurrent requests. Retry when one completes',
      { retryAfter: 1 },
    );
  });
  // The client may have disconnected while waiting.
  if (reply.raw.closed) holding.release();
  else reply.raw.once('close', holding.release);
  return holding;
}

/**
 * The connection share of a call: the account's, or else the caller's own, so neither anonymous traffic nor a single person
 * can lock others out of the console.
 */
function shareOf({ account, actor }: Pick<OperationCall, 'account' | 'actor'>): string {
  if (account !== undefined) return account.id;
  if (actor === undefined) return '';
  return actor.kind === 'key' ? actor.reach.accountId : `person ${actor.personId}`;
}

function send(request: FastifyRequest, reply: FastifyReply, response: unknown): FastifyReply {
  if (response === undefined) return reply.code(204).send();
  // Serialized once: a report can be a megabyte.
  const text = JSON.stringify(response);
  const tag = entityTag(text);
  reply.header('etag', tag);
  const { 'if-none-match': known } = request.headers;
  if (request.method === 'GET' && known !== undefined && matchesEntityTag(known, tag)) {
    return reply.code(304).send();
  }
  return reply.type('application/json; charset=utf-8').send(text);
}

/** @throws Problem for the first malformed parameter */
function readParams(path: string, rawParams: Readonly<Record<string, string>>): PathParams {
  const values = pathParamNames(path).map((name) => {
    const value = pathParams[name].read(rawParams[name] ?? '');
    if (value === undefined) throw malformedParam(name);
    return [name, value];
  });
  return Object.fromEntries(values);
}
