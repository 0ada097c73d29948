import type { Diagnosis, DoctorContext } from './doctor-context.ts';

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
