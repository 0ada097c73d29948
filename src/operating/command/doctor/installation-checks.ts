import { access, constants, stat, statfs } from 'node:fs/promises';
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
  type Database,
  describeServer,
  requireServer,
} from '../../../base/database/open-database.ts';
import { isUnavailable } from '../../../base/database/sqlstate.ts';
import { requireMatchingKey, requireNotMoved } from '../../../base/secrets/installation-store.ts';
import { readKeyState } from '../../../base/secrets/key-rotation-store.ts';
import { loadMasterKey } from '../../../base/secrets/load-master-key.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Reports variables that look like settings but have no effect. */
export async function checkSettings({ config }: DoctorContext): Promise<Diagnosis> {
  const [first, ...others] = config.settingWarnings;
  if (first === undefined) return { ok: true, finding: 'all variables are known' };
  return {
    ok: false,
    finding: first,
    ...(others.length > 0 && { advice: others.join('\n               ') }),
  };
}

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

/** Checks that the key exists, that its file is private, and that it is the key of the database. */
export async function checkKey({ config, database }: DoctorContext): Promise<Diagnosis> {
  const file = join(config.dataDir, 'signalpost.key');
  if (config.key === undefined) {
    const exists = await access(file, constants.F_OK).then(
      () => true,
      () => false,
    );
    if (!exists) return { ok: true, finding: `none yet; the first start creates ${file}` };
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      return {
        ok: false,
        finding: `${file} can be read by others`,
        advice: `Run: chmod 600 ${file}`,
      };
    }
  }
  const key = await loadMasterKey(config);
  if (database !== undefined) {
    await requireMatchingKey(database, key);
    if ((await readKeyState(database)).previous !== null)
      return {
        ok: true,
        finding: 'rotation in progress; the previous key is still accepted',
        advice: 'When nothing needs it anymore, run: signalpost key rotate-master --finish',
      };
  }
  return {
    ok: true,
    finding:
      config.key === undefined
        ? `in ${file}; keep a copy separate from the database backups`
        : 'from SIGNALPOST_KEY',
  };
}

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

/** Checks whether password links, invitations and security notices can be sent. */
export async function checkSystemMail({ config }: DoctorContext): Promise<Diagnosis> {
  const { systemMailFrom } = config;
  const finding =
    systemMailFrom === undefined
      ? 'no password links, invitations or security notices are sent'
      : `password links, invitations and security notices come from ${systemMailFrom.address}`;
  if (systemMailFrom !== undefined) return { ok: true, finding };
  return { ok: true, finding, advice: 'To send them, set SYSTEM_MAIL_FROM to the sender address.' };
}

/**
 * Maximum clock difference in seconds between this machine and the database: message IDs contain this machine's time.
 */
const maxSkewSeconds = 5;

/** Checks that this machine's clock agrees with the database's. */
export async function checkClock({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined)
    return { ok: true, finding: `${new Date().toISOString()} on this machine` };
  const ahead = await measureClockOffset(database.pool).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
  });
  // If the database doesn't respond, its own check reports why.
  if (ahead === undefined) return { ok: true, finding: 'not checked without the database' };
  const seconds = Math.abs(ahead) / 1_000;
  if (seconds <= maxSkewSeconds) {
    return { ok: true, finding: `within ${seconds.toFixed(1)} s of the database’s` };
  }
  return {
    ok: false,
    finding: `this machine’s clock is ${seconds.toFixed(0)} s ${ahead < 0 ? 'ahead of' : 'behind'} the database’s`,
    advice: 'Synchronize the clocks of both machines with NTP. See docs/operate/faults.md.',
  };
}

const minFreeBytes = 1024 ** 3;

/** Checks that the disk of the data folder has space: when it is full, the embedded database rejects mail. */
export async function checkDisk({ config }: DoctorContext): Promise<Diagnosis> {
  const info = await statfs(config.dataDir).catch(() => statfs(dirname(config.dataDir)));
  const free = info.bavail * info.bsize;
  const finding = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${config.dataDir}`;
  if (free >= minFreeBytes || config.databaseUrl !== undefined) return { ok: true, finding };
  return {
    ok: false,
    finding,
    advice: 'Free some space, or move DATA_DIR to a larger disk while the service is stopped.',
  };
}
