import { OperatorError } from '../../base/values/errors.ts';
import { assessBackup } from '../../host/backup/assess-backup.ts';
import { readConfig } from '../config/config.ts';
import { checkMail, checkReports } from './doctor/check-mail.ts';
import { type Diagnosis, type DoctorContext, openDoctorContext } from './doctor/doctor-context.ts';
import {
  checkAccess,
  checkClock,
  checkDatabase,
  checkDisk,
  checkKey,
  checkOperators,
  checkServer,
  checkSettings,
  checkSystemMail,
} from './doctor/installation-checks.ts';
import { productionChecks } from './doctor/production-checks.ts';
import { type CommandShell, printResult } from './shell.ts';

const checks = [
  { name: 'settings', check: checkSettings },
  { name: 'database', check: checkDatabase },
  { name: 'server', check: checkServer },
  { name: 'operators', check: checkOperators },
  { name: 'key', check: checkKey },
  { name: 'access', check: checkAccess },
  { name: 'mail', check: checkMail },
  { name: 'notices', check: checkSystemMail },
  { name: 'reports', check: checkReports },
  { name: 'clock', check: checkClock },
  { name: 'disk', check: checkDisk },
  {
    name: 'backup',
    check: async ({ config, database }: DoctorContext) =>
      assessBackup(config, database !== undefined),
  },
] as const;

/**
 * `doctor`: checks everything that the service depends on and suggests fixes. Changes nothing.
 * @returns 0 if everything is fine, 1 if something needs the operator
 */
export async function doctor(
  shell: CommandShell,
  options: { readonly production?: true },
): Promise<number> {
  const context = await openDoctorContext(readConfig(shell.environment));
  let healthy = true;
  try {
    const asked = options.production ? productionChecks : [];
    for (const { name, check } of [...checks, ...asked]) {
      const diagnosis = await check(context).catch(toDiagnosis);
      healthy &&= diagnosis.ok;
      const { ok, finding, advice } = diagnosis;
      const line = `${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(9)} ${finding}`;
      const text = advice === undefined ? line : `${line}\n               ${advice}`;
      printResult(shell, text, { check: name, ...diagnosis });
    }
  } finally {
    await context.close();
  }
  return healthy ? 0 : 1;
}

function toDiagnosis(error: unknown): Diagnosis {
  if (error instanceof OperatorError) return { ok: false, finding: error.message };
  return { ok: false, finding: error instanceof Error ? error.message : String(error) };
}
