import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, hasRow } from '../../base/database/statements.ts';
import type { PersonId } from '../../base/values/ids.ts';

/** Whether a person is an operator of the installation. Owning accounts doesn't make anyone an operator. */
export function isOperator(kysely: Kysely, personId: PersonId): Promise<boolean> {
  return hasRow(kysely)`
    select from person where id = ${personId} and operator and disabled_at is null`;
}

/** Whether the installation is waiting for its first owner: it has no people, or only those of the demo. */
export async function isSetUpOpen(kysely: Kysely): Promise<boolean> {
  const rows = await allRows<{ open: boolean }>(kysely)`
    select not exists (select from person)
      or exists (select from installation where demo_applied_at is not null)
        and not exists (select from person where operator) as open`;
  return rows[0]?.open === true;
}
