import { isSetUpOpen } from '../../access/operator-store.ts';
import { listOperators } from '../../account/person-store.ts';
import { isSchemaCurrent } from '../../foundation/database/migrate.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Lists the operators. Having none is not a failure: only the screens for operators are unavailable. */
export async function checkOperators({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined || !(await isSchemaCurrent(database).catch(() => false)))
    return { ok: true, finding: 'unknown until the database is running and up to date' };
  const operators = await listOperators(database.kysely);
  if (operators.length > 0) return { ok: true, finding: operators.join(', ') };
  const advice = await adviseOnOperators(database.kysely);
  return { ok: true, finding: 'none', ...(advice !== undefined && { advice }) };
}

/** What to do if there is no operator; undefined if there is one. */
export async function adviseOnOperators(kysely: Database['kysely']): Promise<string | undefined> {
  if ((await listOperators(kysely)).length > 0) return undefined;
  return (await isSetUpOpen(kysely))
    ? 'This installation has no operator yet. For the link that creates the first one, run: signalpost set-up-link'
    : 'This installation has no operator. Run: signalpost operator add EMAIL';
}
