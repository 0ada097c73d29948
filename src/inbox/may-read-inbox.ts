import type { FastifyRequest } from 'fastify';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import type { Caller } from '../session/caller.ts';
import type { MayRead } from './guard-inbox.ts';
import { mayReadAllMail } from './inbox-reader-store.ts';

type Soon<Value> = Value | Promise<Value>;

export interface MayReadParts {
  readonly database: Pick<Database, 'kysely'>;
  readonly tokens: { authenticate(authorization: string | undefined): Soon<Caller | undefined> };
  readonly browser: {
    personOf(request: FastifyRequest): Promise<{ readonly personId: PersonId } | undefined>;
  };
}

/** Those may read who may see the mail of all accounts: by the access token of the request, or signed in with the browser. */
export function mayReadInbox({ database, tokens, browser }: MayReadParts): MayRead {
  return async (request) => {
    const caller = await tokens.authenticate(request.headers.authorization);
    const reader = caller ?? (await browser.personOf(request));
    if (reader === undefined) return false;
    return mayReadAllMail(database.kysely, {
      personId: reader.personId,
      boundTo: caller?.accountId,
    });
  };
}
