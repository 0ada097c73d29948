import { sql } from 'kysely';
import type { Database, DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type AccountLimit, accountLimits } from './account-limits.ts';

/** An account has reached one of its limits. */
export class AccountLimitReached extends OperatorError {
  override name = 'AccountLimitReached';

  constructor({ what, max, per }: AccountLimit) {
    const most = `${max.toLocaleString('en')} ${what}`;
    super(
      per === undefined
        ? `An account can have ${most}. Remove some before you add another`
        : `A ${per.what} can have ${most}. Remove some before you add another`,
    );
  }
}

const limits: readonly AccountLimit[] = Object.values(accountLimits);

/** SQL: an account's usage of a limit; with `per`, the highest. @param exact false: stops counting beyond the limit */
function usage(limit: AccountLimit, accountId: string, exact: boolean) {
  const { table, max, per, where, sum } = limit;
  const rows = sql`${sql.table(table)} where account_id = ${accountId} ${sql.raw(where === undefined ? '' : `and ${where}`)}`;
  const amount = sum === undefined ? sql`count(*)` : sql`sum(${sql.ref(sum)})`;
  if (per !== undefined)
    return sql`(select coalesce(max(used), 0) from (select ${amount} as used from ${rows} group by ${sql.join(per.columns.map((name) => sql.ref(name)))}) g)`;
  if (exact || sum !== undefined) return sql`(select coalesce(${amount}, 0) from ${rows})`;
  return sql`(select count(*) from (select from ${rows} limit ${max + 1}) r)`;
}

async function readUsage(
  kysely: Kysely,
  accountId: string,
  which: readonly AccountLimit[],
  exact = false,
): Promise<number[]> {
  const rows = await allRows<{ used: number[] }>(kysely)`
    select array[${sql.join(which.map((limit) => usage(limit, accountId, exact)))}]::float8[] as used`;
  return rows[0]?.used ?? [];
}

/** The limits whose tables a transaction has written; PostgreSQL's counters may include the connection's previous one. */
async function limitsOfWritten(transaction: DatabaseTransaction): Promise<AccountLimit[]> {
  const tables = [...new Set(limits.map(({ table }) => table))];
  const rows = await allRows<{ relname: string }>(transaction)`
    select relname from pg_stat_xact_user_tables
    where schemaname = current_schema() and relname = any (${tables})
      and (n_tup_ins + n_tup_upd > 0 or current_setting('track_counts') = 'off')`;
  const written = new Set(rows.map(({ relname }) => relname));
  return limits.filter(({ table }) => written.has(table));
}

/**
 * Refuses a change that increases an account's usage beyond a limit. Called at the end of every settings change, whose
 * lock prevents concurrent additions.
 * @param database reads the usage without the change
 * @throws AccountLimitReached
 */
export async function checkAccountLimits(
  database: Pick<Database, 'kysely'>,
  transaction: DatabaseTransaction,
  accountId: string,
): Promise<void> {
  const written = await limitsOfWritten(transaction);
  if (written.length === 0) return;
  const used = await readUsage(transaction, accountId, written);
  const beyond = written.filter(({ max }, index) => (used[index] ?? 0) > max);
  if (beyond.length === 0) return;
  const now = await readUsage(transaction, accountId, beyond, true);
  const before = await readUsage(database.kysely, accountId, beyond, true);
  const grown = beyond.find((_, index) => (now[index] ?? 0) > (before[index] ?? 0));
  if (grown !== undefined) throw new AccountLimitReached(grown);
}

/**
 * Checks limits of rows written without a change's lock: by imports, and when people join.
 * @throws AccountLimitReached
 */
export async function checkLimits(
  transaction: Kysely,
  accountId: string,
  names: readonly (keyof typeof accountLimits)[],
): Promise<void> {
  const which = names.map((name): AccountLimit => accountLimits[name]);
  const used = await readUsage(transaction, accountId, which);
  const beyond = which.find(({ max }, index) => (used[index] ?? 0) > max);
  if (beyond !== undefined) throw new AccountLimitReached(beyond);
}
