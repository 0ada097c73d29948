import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import { tokenName } from './delivery-tokens.ts';
import { fieldsOf, textOf } from './json-fields.ts';
import { messageIdOf, type RelayReport, relayBounce, relayEvent } from './relay-event.ts';

const causeByType: Readonly<Record<string, PermanentCause>> = {
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

/** Postmark bounce types that aren't final: they may still be delivered or aren't bounces at all. */
const softBounceTypes: ReadonlySet<string> = new Set([
  'SoftBounce',
  'Transient',
  'DnsError',
  'SMTPApiError',
]);
const nonBounceTypes: ReadonlySet<string> = new Set([
  'AutoResponder',
  'Subscribe',
  'Unsubscribe',
  'OpenRelayTest',
  'ChallengeVerification',
  'Unconfirmed',
]);

/** Reads a bounce or complaint from Postmark's webhooks. */
export function readPostmark(body: unknown): RelayReport[] {
  const root = fieldsOf(body);
  const token = textOf(fieldsOf(root.Metadata)[tokenName]);
  const earlier = messageIdOf(token);
  const delivery = { token: earlier === undefined ? token : '', earlier };
  const record = textOf(root.RecordType);
  const type = textOf(root.Type);
  const source = {
    by: 'Postmark',
    delivery,
    address: textOf(root.Email ?? root.Recipient),
    report: `${record} ${textOf(root.ID)}`,
  };
  if (record === 'SpamComplaint' || (record === 'Bounce' && type === 'SpamComplaint'))
    return [relayEvent(source, 'complained', { feedbackType: 'abuse' })];
  if (record !== 'Bounce' || nonBounceTypes.has(type)) return [];
  const words = textOf(root.Details) || textOf(root.Description);
  const permanent = !softBounceTypes.has(type);
  return [relayBounce(source, { words, permanent, cause: causeByType[type] })];
}
