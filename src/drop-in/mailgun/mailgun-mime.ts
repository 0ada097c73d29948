import { domainOf, normalizeAddress } from '../../base/values/email-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { toRawMessage } from '../../sending/smtp-submission/raw-submission.ts';
import { readControlFields } from '../../sending/smtp-submission/read-control-fields.ts';
import {
  readMessageHead,
  singleField,
  textOfField,
} from '../../sending/smtp-submission/read-message-head.ts';
import { normalizeLineBreaks } from '../../sending/smtp-submission/receive-message.ts';
import { readOptionalMailbox } from '../../sending/smtp-submission/template-submission.ts';
import { maxContentRecipients, withMemory } from '../../sending/submission/send-content.ts';
import type { DropInRequest } from '../provider/drop-in.ts';
import { invalidMembers } from '../provider/members.ts';
import { readMailbox } from '../provider/read-mailboxes.ts';
import { rightOf } from '../provider/send-messages.ts';
import type { SubmittedForm } from './form-data.ts';
import { mimeMembers, readOptions, readRecipients, toMembers } from './mailgun-messages.ts';

/**
 * Sends the complete message of a form as SMTP's submission does.
 * @returns its ID, with angle brackets
 * @throws Fault
 */
export async function sendMime(request: DropInRequest, form: SubmittedForm): Promise<string> {
  const members = mimeMembers.read(toMembers(form));
  const details: FaultDetail[] = [];
  const { isTest, ...options } = readOptions(members, details);
  const recipients = readRecipients(members.to, 'to', details).map(({ address }) => address);
  const from = members.from === undefined ? undefined : readMailbox(members.from, 'from', details);
  const [to, ...others] = new Map(recipients.map((one) => [normalizeAddress(one), one])).values();
  const { message: given } = members;
  if (given === undefined) details.push({ field: 'message', reason: 'is required' });
  if (to === undefined) details.push({ field: 'to', reason: 'is required' });
  if (others.length >= maxContentRecipients)
    details.push({ field: 'to', reason: `has more than ${maxContentRecipients} addresses` });
  if (details.length > 0 || given === undefined || to === undefined) throw invalidMembers(details);
  const bytes = typeof given === 'string' ? Buffer.from(given) : given.content;
  const { services, span } = request;
  const right = rightOf(isTest ? { ...request, admission: request.admission.forTest } : request);
  return withMemory(right, bytes.length, async () => {
    const source = await normalizeLineBreaks(bytes);
    if (source === undefined)
      throw invalidMembers([{ field: 'message', reason: 'has a bare CR or a NUL' }]);
    const message = readMessageHead(source);
    const { tag, attributes, sendAt, trackOpens, trackClicks, ...control } = readControlFields(
      message.fields,
    );
    if (control.template !== undefined)
      throw invalidMembers([{ field: 'X-Signalpost-Template', reason: 'can’t be used here' }]);
    const sender = readOptionalMailbox(message, 'From');
    const subject = singleField(message.fields, 'Subject');
    if (
      from !== undefined &&
      sender?.address !== undefined &&
      !isSame(from.address, sender.address)
    )
      details.push({ field: 'from', reason: 'must be the address of the message’s From' });
    if (members.subject !== undefined && members.subject !== (subject && textOfField(subject)))
      details.push({ field: 'subject', reason: 'must be the message’s subject' });
    if (details.length > 0) throw invalidMembers(details);
    const raw = toRawMessage(
      {
        message,
        control: {
          ...control,
          tag: options.tag ?? tag,
          attributes: options.attributes ?? attributes,
          sendAt: options.sendAt ?? sendAt,
          trackOpens: options.trackOpens || trackOpens,
          trackClicks: options.trackClicks || trackClicks,
        },
        recipients: [to, ...others],
        idempotencyKey: control.idempotencyKey,
      },
      { receivedAt: new Date(services.clock.now()) },
      services.headerRules,
    );
    const { messageId } = await services.submission.sendRaw(right, { ...raw, span });
    return `<${messageId}@${domainOf(sender?.address ?? to)}>`;
  });
}

function isSame(one: Parameters<typeof normalizeAddress>[0], other: typeof one): boolean {
  return normalizeAddress(one) === normalizeAddress(other);
}
