import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Authenticator } from '../../accounts/access/access-module.ts';
import { type AccessFacts, authorize } from '../../accounts/access/authorize.ts';
import type { BearerPrincipal } from '../../accounts/access/principal.ts';
import { tokenOperations } from '../../accounts/access/token-operations.ts';
import type { Account } from '../../accounts/account/account.ts';
import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import type { Database } from '../../base/database/open-database.ts';
import { Fault } from '../../base/values/errors.ts';
import { type AccountId, parseAccountId } from '../../base/values/ids.ts';
import { allowOnlyMethod } from '../../host/http/allow-only-method.ts';
import { answerFault } from '../../host/http/answer-fault.ts';
import { unauthorized } from '../../host/http/bearer-token.ts';
import type { Http } from '../../host/http/create-http.ts';
import { ListQueryError, parseListQuery } from './list-query.ts';
import { type ContactList, readListPage } from './list-store.ts';
import { type ListingSchema, listFlags } from './listing-schema.ts';

export interface ListRouteDependencies {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, 'memberships'>;
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  readonly facts: AccessFacts;
}

/**
 * `GET /api/1/list` (section 4.4): the lists of the caller's account by `count`, `offset` and `listingtype`, with the
 * total in `totalCount`. 401 as for the send operation, 400 for bad parameters.
 */
export function registerListRoutes(http: Http, dependencies: ListRouteDependencies): void {
  http.get<{ Querystring: Record<string, unknown> }>(
    '/api/1/list',
    { errorHandler: answerListError, config: { access: tokenOperations.list.permission } },
    async (request): Promise<Static<typeof ListingSchema>> => {
      const account = await admitToList(dependencies, request);
      const { count, offset, contactLists } = parseListQuery(request.query);
      if (!contactLists) return { count, offset, totalCount: 0, result: [] };
      const page = await readListPage(dependencies.database.kysely, account.id, { count, offset });
      return { count, offset, totalCount: page.total, result: page.lists.map(toResult) };
    },
  );
  allowOnlyMethod(http, 'GET', '/api/1/list');
}

async function admitToList(
  dependencies: ListRouteDependencies,
  request: FastifyRequest,
): Promise<Account> {
  const { authorization } = request.headers;
  const caller = await dependencies.authenticator.authenticate(authorization);
  if (caller === undefined) throw unauthorized(authorization);
  const named = request.headers['x-account-id'];
  const { account } = await authorize(dependencies.facts, caller, {
    api: 'contract',
    access: tokenOperations.list.permission,
    accountText: await chooseAccount(dependencies.accounts, caller, named?.toString()),
    remoteAddress: () => request.ip,
  });
  if (account === undefined) throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  if (account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
  return account;
}

function toResult(list: ContactList): Static<typeof ListingSchema>['result'][number] {
  const { id, name, folderName, description, sourceSize } = list;
  const modified = list.modifiedAt.getTime();
  return {
    id,
    name,
    folderName,
    description,
    sourceId: id,
    baseId: id,
    sourceName: name,
    sourceSize,
    sourceTS: modified,
    tsSource: modified,
    tsCreated: list.createdAt.getTime(),
    tsLastCounted: modified,
    tsLastModified: modified,
    ...listFlags,
  };
}

function answerListError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!(error instanceof ListQueryError)) return answerFault(error, request, reply);
  const { message } = error;
  request.failure = { error: 'INVALID_PARAMETER', details: [{ field: '', reason: message }] };
  return reply.code(400).send({ errorCode: 'INVALID_PARAMETER', message });
}

/**
 * Chooses the account of a listing: the API key's, else the one that the token is bound to, else the one named in
 * `X-Account-Id`, else the first membership of the token's user.
 * @param named the header's value
 * @throws Fault UNAUTHORIZED if the user belongs to no account; ListQueryError if the header names an account that
 * the caller has no access to
 */
async function chooseAccount(
  accounts: Pick<AccountDirectory, 'memberships'>,
  caller: BearerPrincipal,
  named: string | undefined,
): Promise<AccountId> {
  const allowed =
    caller.kind === 'token'
      ? (await accounts.memberships(caller)).map(({ accountId }) => accountId)
      : [caller.reach.accountId];
  const [first] = allowed;
  if (first === undefined) throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  if (named === undefined || named === '') return first;
  const id = parseAccountId(named);
  if (id !== undefined && allowed.includes(id)) return id;
  // The error must not reveal whether someone else's account exists.
  throw new ListQueryError('X-Account-Id must name an account of this token');
}
