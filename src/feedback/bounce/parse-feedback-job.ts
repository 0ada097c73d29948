import { toBuffer } from '../../foundation/mime/mail-threads.ts';
import type { FeedbackMail } from './feedback-mail.ts';
import { parseFeedbackMail } from './parse-feedback-mail.ts';

export function parseFeedbackJob({ source }: { readonly source: Uint8Array }): FeedbackMail {
  return parseFeedbackMail(toBuffer(source));
}
