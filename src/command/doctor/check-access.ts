import { describeLostAccess } from '../../access/lost-access-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** No program lost access that it used of late. */
export async function checkAccess({ database }: DoctorContext): Promise<Diagnosis> {
  // What keeps the database from answering is the finding of its own check.
  const changes = await (database && describeLostAccess(database.kysely).catch(() => undefined));
  if (changes === undefined) return { ok: true, finding: 'not checked without the database' };
  const [first, ...others] = changes;
  if (first === undefined) return { ok: true, finding: 'no program lost access that it used' };
  return {
    ok: false,
    finding: first,
    ...(others.length > 0 && { advice: others.join('\n               ') }),
  };
}
