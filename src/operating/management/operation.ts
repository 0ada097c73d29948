import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Permission } from '../../accounts/access/permission.ts';
import type { Principal } from '../../accounts/access/principal.ts';
import type { Account } from '../../accounts/account/account.ts';
import type { Wire } from '../../base/values/wire.ts';
import type { ManagementDependencies } from './management-dependencies.ts';
import type { PathParams } from './path-params.ts';

/** An authorized request with valid input. */
export interface OperationCall<Query = unknown, Body = unknown> {
  readonly dependencies: ManagementDependencies;
  /** The caller's share of the database connections. */
  readonly kysely: ManagementDependencies['database']['kysely'];
  readonly params: PathParams;
  readonly query: Query;
  readonly body: Body;
  /** Members of the body that can't be written. */
  readonly readOnly: Readonly<Record<string, unknown>>;
  /** The body only repeats members that can't be written. */
  readonly writesNothing: boolean;
  readonly actor: Principal | undefined;
  /** The account of the path; undefined if the path has none or it doesn't exist. */
  readonly account: Account | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Checks the permission again, for long calls. @throws Problem once the caller has lost it */
  reauthorize(): Promise<void>;
  /**
   * For input that needs more than the route's permission.
   * @returns all that the caller is permitted in the account
   * @throws Problem that names the field, if the caller doesn't have it
   */
  requirePermission(permission: Permission, field?: FieldRule): Promise<ReadonlySet<Permission>>;
}

/** A member of a body that needs more than its operation. */
interface FieldRule {
  readonly field: string;
  /** As of an operation. */
  readonly confirmed: boolean;
}

/** The single source of an endpoint's validation, types and documentation. */
export interface ManagementOperation {
  /** Unique; names the operation in generated clients. */
  readonly id: string;
  /** A short heading. */
  readonly summary: string;
  readonly description?: string | undefined;
  readonly query?: TObject | undefined;
  readonly body?: TSchema | undefined;
  /** The member of the response that has the members of the body. */
  readonly bodyMember?: string | undefined;
  /** Media type of a body that isn't JSON; the handler gets the raw stream. */
  readonly accepts?: 'text/csv' | undefined;
  /** Response body; absent: 204. */
  readonly answer?: TSchema | undefined;
  /** Media type of a response that isn't JSON; the handler sends it. */
  readonly produces?: 'text/csv' | 'application/x-ndjson' | 'application/octet-stream' | undefined;
  /** Media type of a response other than `answer`, if the client asks for it; the handler sends it. */
  readonly alsoProduces?: 'text/event-stream' | undefined;
  /** Stays open to wait for something, so it takes no share of the concurrent requests; the handler limits it. */
  readonly longLived?: boolean | undefined;
  /** Can return 409, as every change can. */
  readonly conflict?: boolean | undefined;
  /** Can return 410. */
  readonly gone?: boolean | undefined;
  /** Success status if it isn't 200 or 204, or to keep a conditional endpoint from returning 201. */
  readonly status?: 200 | 201 | 202 | undefined;
  /** Can return 429, because of a quota or too much concurrent work. */
  readonly limited?: boolean | undefined;
  /** People in a browser must have confirmed who they are in the last ten minutes (ASVS 3.7.1). */
  readonly confirmed?: boolean | undefined;
  /** It only takes away what the account has, so it's permitted in a suspended account. Default: true for DELETE. */
  readonly leaving?: boolean | undefined;
  /** Supports If-Match and If-None-Match, and returns 201 on creation unless `status` is set. */
  readonly conditional?: boolean | undefined;
  handle(call: OperationCall): Promise<unknown>;
}

interface OperationDefinition<Query extends TObject, Body extends TSchema, Answer extends TSchema>
  extends Omit<ManagementOperation, 'query' | 'body' | 'answer' | 'handle'> {
  readonly query?: Query;
  readonly body?: Body;
  readonly answer?: Answer;
  handle(
    call: OperationCall<Static<Query>, Static<Body>>,
  ): Promise<NoInfer<Wire<Static<Answer>>> | undefined>;
}

/** An endpoint whose handler is typed by its schemas. */
export function defineOperation<
  Query extends TObject,
  Body extends TSchema,
  Answer extends TSchema,
>(definition: OperationDefinition<Query, Body, Answer>): ManagementOperation {
  return definition as ManagementOperation;
}

/**
 * The account of the path.
 * @throws Error if the route has none, which is a bug
 */
export function accountOf(call: Pick<OperationCall, 'account'>): Account {
  if (call.account === undefined) throw new Error('a call without an account');
  return call.account;
}

/** The caller of a non-public endpoint. */
export function actorOf(call: Pick<OperationCall, 'actor'>): Principal {
  if (call.actor === undefined) throw new Error('a call without an actor');
  return call.actor;
}

/** The schemas of an object's members by name. */
export function membersOf(schema: TSchema | undefined): Readonly<Record<string, TSchema>> {
  return (
    (schema as { readonly properties?: Record<string, TSchema> } | undefined)?.properties ?? {}
  );
}
