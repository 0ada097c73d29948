import { toBuffer } from '../../foundation/mime/mail-threads.ts';
import { parseReplyMail } from './parse-reply.ts';
import type { ParsedReply } from './reply-content.ts';

export function parseReplyJob({
  source,
  envelopeFrom,
}: {
  readonly source: Uint8Array;
  readonly envelopeFrom: string;
}): ParsedReply {
  return parseReplyMail(toBuffer(source), envelopeFrom);
}
