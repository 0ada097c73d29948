import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Principal } from '../access/principal.ts';
import type { Account } from '../account/account.ts';
import type { AccountId, ClientId, ListId, MessageId, TemplateId } from '../foundation/ids.ts';
import type { Wire } from '../foundation/json-schema.ts';
import type { SystemMailKind } from '../outbox/system-mail.ts';
import type { ManagementDependencies } from './management-dependencies.ts';

export type { Wire } from '../foundation/json-schema.ts';

/** The parameters of all paths; a call has those that its own path names, each in its valid form. */
export interface PathParams {
  readonly accountId: AccountId;
  readonly address: string;
  readonly clientId: ClientId;
  readonly destination: string;
  readonly email: string;
  readonly importId: string;
  readonly inboxMessageId: string;
  readonly keyId: string;
  readonly listId: ListId;
  readonly mailKind: SystemMailKind;
  readonly messageId: MessageId;
  readonly personId: string;
  readonly receiver: string;
  readonly templateId: TemplateId;
  readonly version: number;
  readonly sessionId: string;
  readonly domain: string;
  readonly webhookId: string;
  readonly deliveryId: string;
}

/** A request that was let through, its input valid. */
export interface OperationCall<Query = unknown, Body = unknown> {
  readonly dependencies: ManagementDependencies;
  readonly params: PathParams;
  readonly query: Query;
  readonly body: Body;
  readonly actor: Principal | undefined;
  /** Of the path; undefined where it names none that exists. */
  readonly account: Account | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What an endpoint is: the one source of its validation, its types and its documentation. */
export interface ManagementOperation {
  /** Unique; names it in clients that are generated from the document. */
  readonly id: string;
  /** A few words, as a heading. */
  readonly summary: string;
  readonly description?: string | undefined;
  readonly query?: TObject | undefined;
  readonly body?: TSchema | undefined;
  /** Media type of the body where it is not JSON: the handler takes the raw stream then. */
  readonly accepts?: 'text/csv' | undefined;
  /** The body of the answer; absent: 204. */
  readonly answer?: TSchema | undefined;
  /** Media type of the answer where it is not JSON; the handler sends it itself. */
  readonly produces?: 'text/csv' | 'application/x-ndjson' | undefined;
  /** Status of success where it is neither 200 nor 204, or a conditional endpoint makes nothing. */
  readonly status?: 200 | 201 | 202 | undefined;
  /** It can be asked too often: a message that it sends may meet a quota, or too much may be under way. */
  readonly limited?: boolean | undefined;
  /** It heeds If-Match and If-None-Match; unless `status` says otherwise, it answers 201 where it made something. */
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
 * @throws Error where the route has none, which is a fault of this program
 */
export function accountOf(call: Pick<OperationCall, 'account'>): Account {
  if (call.account === undefined) throw new Error('a call without an account');
  return call.account;
}

/** Who calls an endpoint that is not public. */
export function actorOf(call: Pick<OperationCall, 'actor'>): Principal {
  if (call.actor === undefined) throw new Error('a call without an actor');
  return call.actor;
}
