import { Busy } from '../foundation/errors.ts';
import { type MailTurn, mailJob } from '../foundation/mime/mail-threads.ts';
import type { MailContent } from './inbox-message.ts';
import { parseMailJob, unreadContent } from './parse-mail-job.ts';

const parse = mailJob<{ readonly source: Buffer }, MailContent>(
  'parse-mail-job',
  import.meta.url,
  parseMailJob,
);

/**
 * Reads a message; if that takes too much time or memory, only its header.
 * @throws Busy if too many wait
 */
export async function parseMail(source: Buffer, turn: MailTurn): Promise<MailContent> {
  try {
    return await parse({ source }, turn);
  } catch (error) {
    if (error instanceof Busy) throw error;
    return unreadContent(source);
  }
}
