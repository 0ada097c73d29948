import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeLostAccess } from '../../../accounts/access/lost-access-store.ts';
import { isSetUpOpen } from '../../../accounts/access/operator-store.ts';
import { listOperators } from '../../../accounts/account/person-store.ts';
import { measureClockOffset } from '../../../base/database/database-time-store.ts';
import {
  findDatabaseProblems,
  superuserName,
} from '../../../base/database/find-database-problems.ts';
import { isSchemaCurrent } from '../../../base/database/migrate.ts';
import {
  describeServer,
  type Kysely,
  requireServer,
} from '../../../base/database/open-database.ts';
import { isUnavailable } from '../../../base/database/sqlstate.ts';
import { requireMatchingKey, requireNotMoved } from '../../../base/secrets/installation-store.ts';
import { readKeyState } from '../../../base/secrets/key-rotation-store.ts';
import { loadMasterKey } from '../../../base/secrets/load-master-key.ts';
import { fine, problem } from '../../../base/values/diagnosis.ts';
import { assessBackup } from '../../../host/backup/assess-backup.ts';
import { checkMail } from './check-mail.ts';
import { ask, type Checks, notChecked, stack } from './doctor-context.ts';

/** What to do if there is no operator; undefined if there is one. */
export async function adviseOnOperators(kysely: Kysely): Promise<string | undefined> {
  if ((await listOperators(kysely)).length > 0) return undefined;
  return (await isSetUpOpen(kysely))
    ? 'This installation has no operator yet. For the link that creates the first one, run: signalpost set-up-link'
    : 'This installation has no operator. Run: signalpost operator add EMAIL';
}

/**
 * Maximum clock difference in seconds between this machine and the database: message IDs contain this machine's time.
 */
const maxSkewSeconds = 5;

const minFreeBytes = 1024 ** 3;

/** What the service depends on. */
export const installationChecks: Checks = {
  /** Reports variables that look like settings but have no effect. */
  settings({ config }) {
    const [first, ...others] = config.settingWarnings;
    return first === undefined ? fine('all variables are known') : problem(first, stack(others));
  },
  /** Checks that the database responds, is a supported version, and has the migrations of this release. */
  async database({ config, database }) {
    if (database === undefined)
      return fine(
        `embedded, not running: no service is running on ${config.dataDir}`,
        'Start the service and run doctor again to check the database too.',
      );
    await requireServer(database);
    await requireNotMoved(database);
    const where = describeServer(database.settings);
    if (!(await isSchemaCurrent(database).catch(() => false)))
      return problem(
        `${where} responds but needs migrations of this release`,
        'Run: signalpost migrate',
      );
    const finding = `${where} responds and is up to date`;
    const superuser = await superuserName(database);
    if (superuser === undefined) return fine(finding);
    return fine(
      `${finding}, but its role ${superuser} is a superuser`,
      'Use a role that only owns its database (see docs/operate/harden.md).',
    );
  },
  /** Checks that the database server is durable, and that its locale covers all letters. */
  async server(context) {
    const problems = await ask(context, ({ pool }) => findDatabaseProblems(pool));
    if (problems === undefined) return notChecked;
    if (problems.length === 0) return fine('keeps what it confirms');
    const judge = problems.some(({ serious }) => serious) ? problem : fine;
    return judge(
      stack(problems.map(({ finding }) => finding)) ?? '',
      stack(problems.map(({ advice }) => advice)),
    );
  },
  /** Lists the operators. Having none is not a failure: only the screens for operators are unavailable. */
  async operators({ database }) {
    if (database === undefined || !(await isSchemaCurrent(database).catch(() => false)))
      return fine('unknown until the database is running and up to date');
    const operators = await listOperators(database.kysely);
    if (operators.length > 0) return fine(operators.join(', '));
    return fine('none', await adviseOnOperators(database.kysely));
  },
  /** Checks that the key exists, that its file is private, and that it is the key of the database. */
  async key({ config, database }) {
    const file = join(config.dataDir, 'signalpost.key');
    if (config.key === undefined) {
      if (!existsSync(file)) return fine(`none yet; the first start creates ${file}`);
      const { mode } = await stat(file);
      if (process.platform !== 'win32' && (mode & 0o077) !== 0)
        return problem(`${file} can be read by others`, `Run: chmod 600 ${file}`);
    }
    const key = await loadMasterKey(config);
    if (database !== undefined) {
      await requireMatchingKey(database, key);
      if ((await readKeyState(database)).previous !== null)
        return fine(
          'rotation in progress; the previous key is still accepted',
          'When nothing needs it anymore, run: signalpost key rotate-master --finish',
        );
    }
    return fine(
      config.key === undefined
        ? `in ${file}; keep a copy separate from the database backups`
        : 'from SIGNALPOST_KEY',
    );
  },
  /** Checks that no program lost access that it used recently. */
  async access(context) {
    const changes = await ask(context, ({ kysely }) => describeLostAccess(kysely));
    if (changes === undefined) return notChecked;
    const [first, ...others] = changes;
    return first === undefined
      ? fine('no program lost access that it used')
      : problem(first, stack(others));
  },
  mail: checkMail,
  /** Checks whether password links, invitations and security notices can be sent. */
  notices({ config: { systemMailFrom } }) {
    return systemMailFrom === undefined
      ? fine(
          'no password links, invitations or security notices are sent',
          'To send them, set SYSTEM_MAIL_FROM to the sender address.',
        )
      : fine(
          `password links, invitations and security notices come from ${systemMailFrom.address}`,
        );
  },
  /** Checks that reports about delivered mail match messages; otherwise invalid addresses aren't suppressed. */
  reports({ unused }) {
    const count = unused?.unmatchedReports;
    if (count === undefined) return notChecked;
    if (count === 0) return fine('all reports match a message');
    const [reports, match] = count === 1 ? ['report', 'matches'] : ['reports', 'match'];
    return problem(
      `${count} ${reports} of bounces and complaints since the service started ${match} no message`,
      'See docs/tracking-and-reports.md#reports-that-match-no-message. The metric signalpost_unmatched_reports_total tells who sends them.',
    );
  },
  /** Checks that this machine's clock agrees with the database's. */
  async clock({ database }) {
    if (database === undefined) return fine(`${new Date().toISOString()} on this machine`);
    const ahead = await measureClockOffset(database.pool).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
    });
    if (ahead === undefined) return notChecked;
    const seconds = Math.abs(ahead) / 1_000;
    if (seconds <= maxSkewSeconds) return fine(`within ${seconds.toFixed(1)} s of the database’s`);
    return problem(
      `this machine’s clock is ${seconds.toFixed(0)} s ${ahead < 0 ? 'ahead of' : 'behind'} the database’s`,
      'Synchronize the clocks of both machines with NTP. See docs/operate/faults.md.',
    );
  },
  /** Checks that the disk of the data folder has space: when it is full, the embedded database rejects mail. */
  async disk({ config }) {
    const info = await statfs(config.dataDir).catch(() => statfs(dirname(config.dataDir)));
    const free = info.bavail * info.bsize;
    const finding = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${config.dataDir}`;
    if (free >= minFreeBytes || config.databaseUrl !== undefined) return fine(finding);
    return problem(
      finding,
      'Free some space, or move DATA_DIR to a larger disk while the service is stopped.',
    );
  },
  backup: ({ config, database }) => assessBackup(config, database !== undefined),
};
