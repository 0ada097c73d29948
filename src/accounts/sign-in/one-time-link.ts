import { randomBytes } from 'node:crypto';
import type { Database } from '../../base/database/open-database.ts';
import { hashToken } from '../access/token-mint.ts';
import { type OneTimeLinkPurpose, saveOneTimeLink } from './one-time-link-store.ts';

/** Lifetime of a link, unless it is used or replaced earlier. */
const linkSeconds = 24 * 3600;

/**
 * Paths of the links. The set-up code is in the fragment, which browsers don't send; that of the inbox is a
 * parameter, which the service turns into a cookie, and is useless then.
 */
const linkPaths: Readonly<Record<OneTimeLinkPurpose, string>> = {
  'set-up': '/console#set-up=',
  inbox: '/inbox/enter?code=',
};

/**
 * Creates a link that works once, for a day, and replaces the previous one for the same purpose.
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
