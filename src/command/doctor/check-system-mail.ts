import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks whether password links, invitations and security notices can be sent, and reports settings without effect. */
export async function checkSystemMail({ config }: DoctorContext): Promise<Diagnosis> {
  const { systemMailFrom, deprecationWarnings: retired } = config;
  const finding =
    systemMailFrom === undefined
      ? 'no password links, invitations or security notices are sent'
      : `password links, invitations and security notices come from ${systemMailFrom.address}`;
  if (retired.length > 0) return { ok: false, finding, advice: retired.join(' ') };
  if (systemMailFrom !== undefined) return { ok: true, finding };
  return { ok: true, finding, advice: 'Set SYSTEM_MAIL_FROM to the address that they come from.' };
}
