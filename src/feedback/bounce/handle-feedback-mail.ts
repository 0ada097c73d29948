import type { ReturnPath } from '../../delivery/return-path.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';
import type { FeedbackMail } from './feedback-mail.ts';
import { readFeedbackMail } from './parse-feedback-mail.ts';
import type { ReceivedFeedback } from './receive-feedback-mail.ts';

/**
 * Turns mail to a return path into an event. Only the signed return path identifies the message and recipient; what the
 * mail itself claims isn't trusted.
 * @param path undefined for mail to a feedback address: a complaint that names a return path counts for it
 * @returns undefined if it says nothing about a message
 * @throws Busy if too many wait, ThreadOverrun if it can't be read
 */
export async function handleFeedbackMail(
  path: ReturnPath | undefined,
  { source, digest }: Pick<ReceivedFeedback, 'source' | 'digest'>,
  readReturnPath: (address: string) => ReturnPath | undefined = () => undefined,
): Promise<FeedbackEvent | undefined> {
  const group = path?.accountTag?.toString('hex') ?? path?.messageId ?? 'feedback addresses';
  const report = await readFeedbackMail({ source }, { group });
  const event = eventOf(report);
  const named = report.kind === 'complaint' ? report.mailFrom : undefined;
  const about = path ?? (named === undefined ? undefined : readReturnPath(named));
  if (event === undefined || about === undefined) return undefined;
  return { ...about, ...event, report: digest };
}

function eventOf(report: FeedbackMail): Pick<FeedbackEvent, 'kind' | 'detail'> | undefined {
  if (report.kind === 'bounce') {
    const { permanent, cause, status, diagnostic } = report;
    const detail = { by: 'mail', cause, permanent, status, reason: diagnostic };
    return { kind: 'bounced', detail };
  }
  if (report.kind === 'delay')
    return {
      kind: 'delayed',
      detail: { by: 'mail', status: report.status, reason: report.diagnostic },
    };
  if (report.kind === 'complaint')
    return { kind: 'complained', detail: { by: 'mail', feedbackType: report.feedbackType } };
  return undefined;
}
