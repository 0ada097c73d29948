import { isSetUpOpen } from '../access/operator-store.ts';
import { listOperators } from '../account/person-store.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { createOneTimeLink } from '../session/one-time-link.ts';

/** What the start prints for the person who started it: being on the same machine gives nobody anything. */
export interface StartLinks {
  /** Undefined where the installation has its owner. */
  readonly setUp: string | undefined;
  /** Undefined where mail is not captured. */
  readonly inbox: string | undefined;
  /** Nobody looks after the installation, and no link makes somebody. */
  readonly lacksOperator: boolean;
}

/** @param serviceUrl where people reach the service */
export async function createStartLinks(
  database: Database,
  config: Config,
  serviceUrl: string,
): Promise<StartLinks> {
  const open = await isSetUpOpen(database.kysely);
  return {
    setUp: open ? await createOneTimeLink(database, 'set-up', serviceUrl) : undefined,
    inbox:
      config.delivery === 'inbox'
        ? await createOneTimeLink(database, 'inbox', serviceUrl)
        : undefined,
    lacksOperator: !open && (await listOperators(database.kysely)).length === 0,
  };
}
