import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountDirectory } from '../account/account-directory.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { Fault } from '../foundation/errors.ts';
import { answerFault } from '../http/answer-fault.ts';
import type { Http } from '../http/create-http.ts';
import { onlyMethod } from '../http/only-method.ts';
import type { Caller } from '../session/caller.ts';
import { chooseAccount } from './choose-account.ts';
import { ListQueryError, parseListQuery } from './list-query.ts';
import { type ContactList, readListPage } from './list-store.ts';

export interface ListRouteParts {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  /** Says who is calling; undefined for a missing or invalid token. */
  authenticate(authorization: string | undefined): Caller | undefined | Promise<Caller | undefined>;
}

/**
 * `GET /api/1/list` (section 4.4): the lists of the token's account by `count`, `offset` and `listingtype`, and in
 * `totalCount` how many there are in all. 401 as for the send operation, 400 for bad parameters.
 */
export function registerListRoutes(http: Http, parts: ListRouteParts): void {
  http.get<{ Querystring: Record<string, unknown> }>(
    '/api/1/list',
    { errorHandler: answerListError },
    async (request) => {
      const caller = await parts.authenticate(request.headers.authorization);
      if (caller === undefined) throw new Fault('UNAUTHORIZED');
      const named = request.headers['x-account-id'];
      const account = await chooseAccount(parts.accounts, caller, named?.toString());
      const { count, offset, contactLists } = parseListQuery(request.query);
      if (!contactLists) return { count, offset, totalCount: 0, result: [] };
      const page = await readListPage(parts.database.kysely, account.id, { count, offset });
      return { count, offset, totalCount: page.total, result: page.lists.map(toResult) };
    },
  );
  onlyMethod(http, 'GET', '/api/1/list');
}

function toResult(list: ContactList): Record<string, unknown> {
  return {
    id: list.id,
    name: list.name,
    folderName: list.folderName,
    description: list.description,
    sourceSize: list.sourceSize,
    tsCreated: list.createdAt.getTime(),
    tsLastModified: list.modifiedAt.getTime(),
  };
}

function answerListError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!(error instanceof ListQueryError)) return answerFault(error, request, reply);
  return reply.code(400).send({ errorCode: 'INVALID_PARAMETER', message: error.message });
}
