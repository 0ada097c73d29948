import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../src/base/database/open-database.ts';
import type { AccountId } from '../src/base/values/ids.ts';
import type { Shop } from '../test/support/shop.ts';

type Sql = RawBuilder<unknown>;

/** Multiplies rows that the product has written, whatever columns their table has. */
export async function copyRows(
  { kysely }: Database,
  order: {
    readonly table: string;
    /** A condition on `one`, the row to copy. */
    readonly where: Sql;
    /** A set of values of `copy`, one for each new row. */
    readonly times: Sql;
    /** Columns that differ, in terms of `one` and `copy`. */
    readonly columns: Readonly<Record<string, Sql>>;
  },
): Promise<void> {
  const { table, where, times, columns } = order;
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`.execute(
    kysely,
  );
  const names = rows.map(({ name }) => sql.ref(name));
  const values = rows.map(({ name }) => columns[name] ?? sql.ref(`one.${name}`));
  await sql`
    insert into ${sql.table(table)} (${sql.join(names)})
    select ${sql.join(values)} from ${sql.table(table)} as one cross join ${times} as copy where ${where}`.execute(
    kysely,
  );
}

/** Creates accounts like the shop, with the same people. */
export async function copyAccount(
  database: Database,
  id: AccountId,
  others: readonly string[],
): Promise<void> {
  const times = sql`unnest(${others}::text[])`;
  const names = { id: sql`copy`, name: sql`copy` };
  await copyRows(database, { table: 'account', where: sql`one.id = ${id}`, times, columns: names });
  for (const table of ['membership', 'sender', 'template', 'template_version'])
    await copyRows(database, {
      table,
      where: sql`one.account_id = ${id}`,
      times,
      columns: { account_id: sql`copy` },
    });
}

/** @returns `count` IDs: the shop's and those of its copies */
export async function multiplyAccounts(
  database: Database,
  shop: Shop,
  count: number,
): Promise<AccountId[]> {
  const ids = Array.from({ length: count }, (_, index) => String(Number(shop.id) + index));
  await copyAccount(database, shop.id, ids.slice(1));
  return ids as AccountId[];
}
