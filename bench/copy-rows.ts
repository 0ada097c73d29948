import { sql } from 'kysely';
import type { Database } from '../src/foundation/database/open-database.ts';
import type { AccountId, TemplateId } from '../src/foundation/ids.ts';
import type { Shop } from '../test/support/shop.ts';

type Sql = ReturnType<typeof sql>;

export interface CopyOrder {
  readonly table: string;
  /** Which rows, as a condition on `one`. */
  readonly where: Sql;
  /** What each is copied for, such as a series; its columns are those of `copy`. */
  readonly times: Sql;
  /** Columns that differ, of `one` and `copy`; null: what the table gives a new row. */
  readonly columns: Readonly<Record<string, Sql | null>>;
}

/** Multiplies rows that the product has written, with whatever columns their table has. */
export async function copyRows(
  { kysely }: Pick<Database, 'kysely'>,
  { table, where, times, columns }: CopyOrder,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`.execute(
    kysely,
  );
  const names = rows.map(({ name }) => name).filter((name) => columns[name] !== null);
  const values = names.map((name) => columns[name] ?? sql.ref(`one.${name}`));
  await sql`
    insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    select ${sql.join(values)} from ${sql.table(table)} as one cross join ${times} as copy where ${where}`.execute(
    kysely,
  );
}

/** Tables of an account that sends. */
const accountTables = ['membership', 'sender', 'template', 'template_version'] as const;

/** Further accounts like the shop, of the same people. */
export async function copyAccount(
  database: Database,
  id: AccountId,
  others: readonly string[],
): Promise<void> {
  const times = sql`unnest(${others}::text[])`;
  const columns = { account_id: sql`copy` };
  const names = { id: sql`copy`, name: sql`copy` };
  await copyRows(database, { table: 'account', where: sql`one.id = ${id}`, times, columns: names });
  for (const table of accountTables)
    await copyRows(database, { table, where: sql`one.account_id = ${id}`, times, columns });
}

/** So many accounts in all, with the shop's own; returns the ids of all. */
export async function multiplyAccounts(
  database: Database,
  shop: Shop,
  count: number,
): Promise<AccountId[]> {
  const ids = Array.from({ length: count }, (_, index) => String(Number(shop.id) + index));
  await copyAccount(database, shop.id, ids.slice(1));
  return ids as AccountId[];
}

/** Further templates of an account like one that it has. */
export async function copyTemplate(
  database: Database,
  accountId: AccountId,
  id: TemplateId,
  others: readonly TemplateId[],
): Promise<void> {
  const times = sql`unnest(${others}::text[])`;
  for (const [table, column, columns] of [
    ['template', 'id', { id: sql`copy`, name: sql`copy` }],
    ['template_version', 'template_id', { template_id: sql`copy` }],
  ] as const) {
    const where = sql`one.account_id = ${accountId} and ${sql.ref(`one.${column}`)} = ${id}`;
    await copyRows(database, { table, where, times, columns });
  }
}
