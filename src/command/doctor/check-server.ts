import { findDatabaseProblems } from '../../foundation/database/find-database-problems.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks that the database server is durable, and that its locale covers all letters. */
export async function checkServer({ database }: DoctorContext): Promise<Diagnosis> {
  // If the database doesn't respond, its own check reports why.
  const problems = await (database && findDatabaseProblems(database.pool).catch(() => undefined));
  if (problems === undefined) return { ok: true, finding: 'not checked without the database' };
  if (problems.length === 0) return { ok: true, finding: 'keeps what it confirms' };
  return {
    ok: problems.every(({ serious }) => !serious),
    finding: problems.map(({ finding }) => finding).join('\n               '),
    advice: problems.map(({ advice }) => advice).join('\n               '),
  };
}
