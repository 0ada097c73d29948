import { problem } from '../../base/values/diagnosis.ts';
import { messageOf } from '../../base/values/errors.ts';
import { readConfig } from '../config/config.ts';
import { openDoctorContext } from './doctor/doctor-context.ts';
import { installationChecks } from './doctor/installation-checks.ts';
import { productionChecks } from './doctor/production-checks.ts';
import { type CommandShell, printResult } from './shell.ts';

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
    const checks = { ...installationChecks, ...(options.production && productionChecks) };
    for (const [name, check] of Object.entries(checks)) {
      const diagnosis = await Promise.try(check, context).catch((error: unknown) =>
        problem(messageOf(error)),
      );
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
