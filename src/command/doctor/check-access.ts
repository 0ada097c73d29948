import { describeLostAccess } from '../../access/lost-access-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks that no program lost access that it used recently. */
export async function checkAccess({ database }: DoctorContext): Promise<Diagnosis> {
  // If the database doesn't respond, its own check reports why.
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
