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
