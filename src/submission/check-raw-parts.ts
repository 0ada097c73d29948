import { Busy, Fault, type FaultDetail } from '../foundation/errors.ts';
import { type MailTurn, mailJob } from '../foundation/mime/mail-threads.ts';
import { checkRawPartsJob, type RawParts } from './check-raw-parts-job.ts';

const check = mailJob<RawParts, FaultDetail[]>(
  'check-raw-parts-job',
  import.meta.url,
  checkRawPartsJob,
);

/**
 * Checks that a complete message can be read and tracked, and its files by the rules for attachments.
 * @throws Fault VALIDATION_FAILED that names each refused part, Busy if too many messages wait to be checked
 */
export async function checkRawParts(parts: RawParts, turn: MailTurn): Promise<void> {
  const details = await check(parts, turn).catch((error: unknown): FaultDetail[] => {
    if (error instanceof Busy) throw error;
    return [{ field: 'the message', reason: 'can’t be read; send it with fewer or simpler parts' }];
  });
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
}
