import { randomBytes } from 'node:crypto';
import { hashToken } from '../access/token-mint.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { type OneTimeLinkPurpose, saveOneTimeLink } from './one-time-link-store.ts';

/** How long a link works, unless it is used or replaced before. */
const linkSeconds = 24 * 3600;

/**
 * What follows the service's address. The set-up code stands in the fragment, which browsers send to no server; the inbox works
 * without script, so its code is a parameter, worth nothing once the page has opened.
 */
const linkPaths: Readonly<Record<OneTimeLinkPurpose, string>> = {
  'set-up': '/console#set-up=',
  inbox: '/inbox/enter?code=',
};

/**
 * Makes a link that works once and for a day; the earlier one for the same purpose ends.
 * @param serviceUrl without a trailing slash
 */
export async function createOneTimeLink(
  database: Pick<Database, 'kysely'>,
  purpose: OneTimeLinkPurpose,
  serviceUrl: string,
): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  await saveOneTimeLink(database.kysely, purpose, hashToken(code), linkSeconds);
  return serviceUrl + linkPaths[purpose] + code;
}
