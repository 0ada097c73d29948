import { countUnused } from '../../foundation/processes/process-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks that reports about delivered mail match messages; otherwise invalid addresses aren't suppressed. */
export async function checkReports({ database }: DoctorContext): Promise<Diagnosis> {
  const unused = await (database && countUnused(database.kysely).catch(() => undefined));
  if (unused === undefined) return { ok: true, finding: 'not checked without the database' };
  const { unmatchedReports: count } = unused;
  if (count === 0) return { ok: true, finding: 'all reports match a message' };
  return {
    ok: false,
    finding: `${count} ${count === 1 ? 'report' : 'reports'} of bounces and complaints since the service started ${count === 1 ? 'matches' : 'match'} no message`,
    advice:
      'See docs/tracking-and-reports.md#reports-that-match-no-message. The metric signalpost_unmatched_reports_total tells who sends them.',
  };
}
