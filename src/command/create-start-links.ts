import { isSetUpOpen } from '../access/operator-store.ts';
import { listOperators } from '../account/person-store.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { createOneTimeLink } from '../session/one-time-link.ts';

/** Links printed at startup. Connecting from the same machine grants no access without them. */
export interface StartLinks {
  /** Undefined if the installation already has its owner. */
  readonly setUp: string | undefined;
  /** Undefined if mail is not captured. */
  readonly inbox: string | undefined;
  /** The installation has no operator, and no link creates one. */
  readonly lacksOperator: boolean;
}

/** @param serviceUrl the public base URL */
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
