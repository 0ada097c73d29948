import type { PermanentCause } from '../../delivery/reply-rules.ts';
import type { OutsideEvent } from '../bounce/report-store.ts';
import { fieldsOf, textOf } from './json-fields.ts';
import { messageOf, postmarkMetadata, relayBounce, relayNote } from './relay-event.ts';

const by = 'Postmark';

const types: Readonly<Record<string, PermanentCause>> = {
  HardBounce: 'no-mailbox',
  BadEmailAddress: 'no-mailbox',
  AddressChange: 'no-mailbox',
  ManuallyDeactivated: 'mailbox-disabled',
  SpamNotification: 'content',
  VirusNotification: 'content',
  Blocked: 'policy',
  DMARCPolicy: 'authentication',
  DnsError: 'no-domain',
};

/** Postmark's kinds of bounce that are final; the others may still be delivered or are no bounces. */
const soft: ReadonlySet<string> = new Set(['SoftBounce', 'Transient', 'DnsError', 'SMTPApiError']);
const noBounces: ReadonlySet<string> = new Set([
  'AutoResponder',
  'Subscribe',
  'Unsubscribe',
  'OpenRelayTest',
  'ChallengeVerification',
  'Unconfirmed',
]);

/** A bounce or complaint of Postmark's webhooks. */
export function readPostmark(body: unknown): OutsideEvent[] {
  const root = fieldsOf(body);
  const messageId =
    messageOf(textOf(fieldsOf(root.Metadata)[postmarkMetadata])) ??
    messageOf(textOf(root.MessageID));
  if (messageId === undefined) return [];
  const record = textOf(root.RecordType);
  const type = textOf(root.Type);
  const address = textOf(root.Email ?? root.Recipient);
  const report = `${record} ${textOf(root.ID)}`;
  if (record === 'SpamComplaint' || (record === 'Bounce' && type === 'SpamComplaint'))
    return [relayNote('complained', by, messageId, address, report, { feedbackType: 'abuse' })];
  if (record !== 'Bounce' || noBounces.has(type)) return [];
  const words = textOf(root.Details) || textOf(root.Description);
  return [
    relayBounce({
      by,
      messageId,
      address,
      words,
      permanent: !soft.has(type),
      cause: types[type],
      report,
    }),
  ];
}
