import { superuserName } from '../../foundation/database/find-database-problems.ts';
import { isSchemaCurrent } from '../../foundation/database/migrate.ts';
import { describeServer, requireServer } from '../../foundation/database/open-database.ts';
import { requireNotMoved } from '../../foundation/installation-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks that the database responds, is a supported version, and has the migrations of this release. */
export async function checkDatabase({ config, database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined) {
    return {
      ok: true,
      finding: `embedded, not running: no service is running on ${config.dataDir}`,
      advice: 'Start the service and run doctor again to check the database too.',
    };
  }
  await requireServer(database);
  await requireNotMoved(database);
  const where = describeServer(database.settings);
  const current = await isSchemaCurrent(database).catch(() => false);
  if (current) {
    const finding = `${where} responds and is up to date`;
    const superuser = await superuserName(database);
    if (superuser === undefined) return { ok: true, finding };
    return {
      ok: true,
      finding: `${finding}, but its role ${superuser} is a superuser`,
      advice: 'Use a role that only owns its database (see docs/operate/harden.md).',
    };
  }
  return {
    ok: false,
    finding: `${where} responds but needs migrations of this release`,
    advice: 'Run: signalpost migrate',
  };
}
