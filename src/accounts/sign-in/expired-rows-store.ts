import { type RawBuilder, sql } from 'kysely';
import type { Database, Tables } from '../../base/database/open-database.ts';

const refusedSignInDays = 30;

/** When rows expire. */
export interface ExpiryOptions {
  /** Days that the audit log is kept; 0: forever. */
  readonly auditDays: number;
}

/** Rows that are removed some time after they expire. */
interface Expiring {
  readonly table: keyof Tables;
  /** Columns that identify a row. */
  readonly key: string;
  /** Undefined: now, none. */
  readonly where: (options: ExpiryOptions) => RawBuilder<unknown> | undefined;
  /** The column whose order removes the oldest rows first; undefined: in any order. */
  readonly order?: string;
}

const isOver = () => sql`expires_at < now()`;

const expiring = {
  'access tokens': { table: 'access_token', key: 'hash', where: isOver, order: 'expires_at' },
  // A used code is kept for an hour, so that a second use is recognized.
  codes: {
    table: 'grant_code',
    key: 'hash',
    where: () => sql`expires_at < now() - interval '1 hour'`,
  },
  'browser sessions': { table: 'browser_session', key: 'hash', where: isOver },
  'passkey challenges': { table: 'spent_challenge', key: 'challenge', where: isOver },
  links: { table: 'password_reset', key: 'hash', where: isOver },
  invitations: { table: 'invitation', key: 'account_id, email', where: isOver },
  guesses: {
    table: 'wrong_guess',
    key: 'key',
    where: () => sql`last_at < now() - interval '1 hour'`,
  },
  'uses of budgets': { table: 'budget_use', key: 'id', where: isOver },
  'audit events': {
    table: 'audit_event',
    key: 'id',
    where: ({ auditDays }) =>
      auditDays === 0 ? undefined : sql`at < now() - ${auditDays} * interval '1 day'`,
    order: 'at',
  },
  // Strangers cause them, so they are kept only as long as an attack is looked into.
  'refused sign-ins': {
    table: 'audit_event',
    key: 'id',
    where: ({ auditDays }) =>
      auditDays === 0
        ? undefined
        : sql`account_id is null and kind = 'sign_in' and outcome = 'refused'
          and at < now() - ${refusedSignInDays} * interval '1 day'`,
    order: 'at',
  },
} as const satisfies Readonly<Record<string, Expiring>>;

export type ExpiringKind = keyof typeof expiring;

export const expiringKinds = Object.keys(expiring) as ExpiringKind[];

/**
 * Removes some expired rows of one kind; skips rows that another node is removing.
 * @returns the number of rows
 */
export async function removeExpiredRows(
  database: Database,
  kind: ExpiringKind,
  limit: number,
  options: ExpiryOptions,
): Promise<number> {
  const { table, key, where, order }: Expiring = expiring[kind];
  const condition = where(options);
  if (condition === undefined) return 0;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${sql.raw(key)}) in (
      select ${sql.raw(key)} from ${sql.table(table)} where ${condition}
      ${sql.raw(order === undefined ? '' : `order by ${order}`)} limit ${limit} for update skip locked)`.execute(
    database.kysely,
  );
  return Number(numAffectedRows);
}
