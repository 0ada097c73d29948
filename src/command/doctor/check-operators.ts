import { isSetUpOpen } from '../../access/operator-store.ts';
import { listOperators } from '../../account/person-store.ts';
import { isSchemaCurrent } from '../../foundation/database/migrate.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Who looks after the installation. That nobody does is no fault of a machine: only a person's screens are missing. */
export async function checkOperators({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined || !(await isSchemaCurrent(database).catch(() => false)))
    return { ok: true, finding: 'not known until the database is running and current' };
  const operators = await listOperators(database.kysely);
  if (operators.length > 0) return { ok: true, finding: operators.join(', ') };
  const advice = await adviseOnOperators(database.kysely);
  return { ok: true, finding: 'nobody', ...(advice !== undefined && { advice }) };
}

/** What to do where nobody is operator; undefined where somebody is. */
export async function adviseOnOperators(kysely: Database['kysely']): Promise<string | undefined> {
  if ((await listOperators(kysely)).length > 0) return undefined;
  return (await isSetUpOpen(kysely))
    ? 'Nobody is operator of this installation yet. For the link that makes the first one, run: signalpost set-up-link'
    : 'Nobody is operator of this installation. Run: signalpost operator add EMAIL';
}
