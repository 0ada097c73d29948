import { createHash } from 'node:crypto';
import { OperatorError } from '../values/errors.ts';
import { lockBudgets } from './advisory-locks.ts';
import type { Kysely } from './open-database.ts';
import { allRows, run } from './statements.ts';

/** How much can be used within a time, counted across all nodes. */
export interface Budget {
  /** What is counted, and for whom; the database has only a hash of it. */
  readonly key: readonly string[];
  readonly max: number;
  readonly seconds: number;
}

/** What is left of a budget. */
export interface BudgetState {
  readonly budget: Budget;
  readonly used: number;
  readonly left: number;
  /** Seconds until the oldest use no longer counts. */
  readonly retryAfter: number;
}

/** A budget is used up, so the request is refused until then. */
export class BudgetUsedUp extends OperatorError {
  override name = 'BudgetUsedUp';
  /** Seconds after which to retry. */
  readonly retryAfter: number;

  /** @param message what is used up, and what to do */
  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = Math.max(1, Math.ceil(retryAfter));
  }
}

/**
 * Takes an amount from every budget, or from none if one of them has less left. Uses of the same budget wait for this transaction,
 * so it must be short and do this once.
 * @returns the budgets with what is left after it, or the one that has too little
 */
export async function useBudgets(
  transaction: Kysely,
  budgets: readonly Budget[],
  amount = 1,
): Promise<
  | { readonly states: readonly BudgetState[]; readonly refused?: never }
  | { readonly refused: BudgetState; readonly states?: never }
> {
  await lockBudgets(
    transaction,
    budgets.map((budget) => keyOf(budget).toString('hex')),
  );
  const before = await readBudgets(transaction, budgets);
  const refused = before.find(({ left }) => left < amount);
  if (refused !== undefined) return { refused };
  await recordUse(transaction, budgets, amount);
  return {
    states: before.map(({ used, left, ...state }) => ({
      ...state,
      used: used + amount,
      left: left - amount,
    })),
  };
}

/** Counts a use whatever is left. */
export async function recordUse(
  kysely: Kysely,
  budgets: readonly Budget[],
  amount = 1,
): Promise<void> {
  await run(kysely)`
    insert into budget_use (key, amount, expires_at)
    select key, ${amount}, now() + seconds * interval '1 second'
    from unnest(${budgets.map(keyOf)}::bytea[], ${budgets.map(({ seconds }) => seconds)}::integer[]) as b (key, seconds)`;
}

/** Makes budgets whole again. */
export async function clearBudgets(kysely: Kysely, budgets: readonly Budget[]): Promise<void> {
  await run(kysely)`delete from budget_use where key = any (${budgets.map(keyOf)}::bytea[])`;
}

/** What is left of budgets, in their order. */
export async function readBudgets(
  kysely: Kysely,
  budgets: readonly Budget[],
): Promise<BudgetState[]> {
  const rows = await allRows<{ used: number; seconds: number }>(kysely)`
    select u.used, u.seconds from unnest(${budgets.map(keyOf)}::bytea[]) with ordinality as b (key, n)
    cross join lateral (
      select coalesce(sum(amount), 0)::integer as used,
        coalesce(extract(epoch from min(expires_at) - now()), 0)::float8 as seconds
      from budget_use where key = b.key and expires_at > now()) u
    order by b.n`;
  return budgets.map((budget, index) => ({
    budget,
    used: rows[index]?.used ?? 0,
    left: budget.max - (rows[index]?.used ?? 0),
    retryAfter: rows[index]?.seconds ?? 0,
  }));
}

function keyOf({ key }: Budget): Buffer {
  return createHash('sha256').update(JSON.stringify(key)).digest();
}
