import type { FastifyRequest } from 'fastify';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import type { MayRead } from './guard-inbox.ts';
import { mayReadAllMail } from './inbox-reader-store.ts';

export interface MayReadParts {
  readonly database: Pick<Database, 'kysely'>;
  readonly browser: {
    personOf(request: FastifyRequest): Promise<{ readonly personId: PersonId } | undefined>;
  };
}

/** People who may see the mail of all accounts, signed in with a browser. */
export function mayReadInbox({ database, browser }: MayReadParts): MayRead {
  return async (request) => {
    const reader = await browser.personOf(request);
    return (
      reader !== undefined && mayReadAllMail(database.kysely, { ...reader, boundTo: undefined })
    );
  };
}
