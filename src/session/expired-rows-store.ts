import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** Kinds of rows removed some time after they expire, in chunks; each skips rows that another node is removing. */
export const expiringKinds = [
  'access tokens',
  'codes',
  'browser sessions',
  'passkey challenges',
  'links',
  'invitations',
  'guesses',
  'uses of budgets',
  'audit events',
  'refused sign-ins',
] as const;
export type ExpiringKind = (typeof expiringKinds)[number];

const refusedSignInDays = 30;

/** When rows expire. */
export interface ExpiryOptions {
  /** Days that the audit log is kept; 0: forever. */
  readonly auditDays: number;
}

/**
 * Removes some expired rows of one kind.
 * @returns the number of rows
 */
export function removeExpiredRows(
  database: Database,
  kind: ExpiringKind,
  limit: number,
  options: ExpiryOptions,
): Promise<number> {
  return removers[kind](database, limit, options);
}

type Remove = (database: Database, limit: number, options: ExpiryOptions) => Promise<number>;

const removers: Readonly<Record<ExpiringKind, Remove>> = {
  'access tokens': (database, limit) =>
    countAffected(
      sql`delete from access_token where hash in (
        select hash from access_token
        where expires_at < now()
        order by expires_at limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  // A used code is kept for an hour, so that a second use is recognized.
  codes: (database, limit) =>
    countAffected(
      sql`delete from grant_code where hash in (
        select hash from grant_code
        where expires_at < now() - interval '1 hour'
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  'browser sessions': (database, limit) =>
    countAffected(
      sql`delete from browser_session where hash in (
        select hash from browser_session
        where expires_at < now()
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  'passkey challenges': (database, limit) =>
    countAffected(
      sql`delete from spent_challenge where challenge in (
        select challenge from spent_challenge
        where expires_at < now()
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  links: (database, limit) =>
    countAffected(
      sql`delete from password_reset where hash in (
        select hash from password_reset
        where expires_at < now()
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  invitations: (database, limit) =>
    countAffected(
      sql`delete from invitation where (account_id, email) in (
        select account_id, email from invitation
        where expires_at < now()
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  'audit events': async (database, limit, { auditDays }) => {
    if (auditDays === 0) return 0;
    return countAffected(
      sql`delete from audit_event where id in (
        select id from audit_event
        where at < now() - ${auditDays} * interval '1 day'
        order by at limit ${limit} for update skip locked)`.execute(database.kysely),
    );
  },
  // Strangers cause them, so they are kept only as long as an attack is looked into.
  'refused sign-ins': async (database, limit, { auditDays }) => {
    if (auditDays === 0) return 0;
    return countAffected(
      sql`delete from audit_event where id in (
        select id from audit_event
        where account_id is null and kind = 'sign_in' and outcome = 'refused'
          and at < now() - ${refusedSignInDays} * interval '1 day'
        order by at limit ${limit} for update skip locked)`.execute(database.kysely),
    );
  },
  guesses: (database, limit) =>
    countAffected(
      sql`delete from wrong_guess where key in (
        select key from wrong_guess
        where last_at < now() - interval '1 hour'
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
  'uses of budgets': (database, limit) =>
    countAffected(
      sql`delete from budget_use where id in (
        select id from budget_use
        where expires_at < now()
        limit ${limit} for update skip locked)`.execute(database.kysely),
    ),
};

async function countAffected(
  result: Promise<{ readonly numAffectedRows?: bigint }>,
): Promise<number> {
  return Number((await result).numAffectedRows ?? 0);
}
