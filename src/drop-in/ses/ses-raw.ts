import type { HeaderField } from '../../base/mime/header-fields.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import { toRawMessage } from '../../sending/smtp-submission/raw-submission.ts';
import { readControlFields } from '../../sending/smtp-submission/read-control-fields.ts';
import { readMessageHead, textOfField } from '../../sending/smtp-submission/read-message-head.ts';
import { normalizeLineBreaks } from '../../sending/smtp-submission/receive-message.ts';
import { readOptionalMailbox } from '../../sending/smtp-submission/template-submission.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { decodeBase64 } from '../../sending/submission/decode-base64.ts';
import { maxContentRecipients, withMemory } from '../../sending/submission/send-content.ts';
import type { DropInRequest } from '../provider/drop-in.ts';
import { invalidMember, Place } from '../provider/place.ts';
import { readMailbox } from '../provider/read-mailboxes.ts';
import { rightOf } from '../provider/sending.ts';
import type { SesRaw } from './ses-messages.ts';

const sesPrefix = 'x-ses-';
const setField = 'x-ses-configuration-set';
const tagsField = 'x-ses-message-tags';

/**
 * Sends a complete message as SMTP's submission does.
 * @throws Fault
 */
export function sendComplete(
  request: DropInRequest,
  raw: SesRaw,
  idempotencyKey: string | undefined,
): Promise<Receipt> {
  const { services, now, span } = request;
  const right = rightOf(request);
  return withMemory(right, raw.data.length, async () => {
    const decoded = await decodeBase64(raw.data);
    if (decoded === undefined) throw invalidMember('Content.Raw.Data', 'is not base64');
    const source = await normalizeLineBreaks(decoded.content);
    if (source === undefined) throw invalidMember('Content.Raw.Data', 'has a bare CR or a NUL');
    const { submission, headerRules } = services;
    const trace = { receivedAt: new Date(now) };
    const message = toRawMessage({ ...readRaw(source, raw), idempotencyKey }, trace, headerRules);
    return submission.sendRaw(right, { ...message, span });
  });
}

function readRaw(source: Buffer, { from, recipients: asked, attributes, tag }: SesRaw) {
  const place = new Place();
  const { fields, ...message } = readMessageHead(source);
  const control = readControlFields(fields);
  const noTemplate = 'can’t be used here; use Content.Template';
  place.refuseIf(control.template !== undefined, noTemplate, 'X-Signalpost-Template');
  const own = fields.filter(({ name }) => name.startsWith(sesPrefix));
  for (const { name } of own)
    place.refuseIf(name !== setField && name !== tagsField, 'isn’t supported; remove it', name);
  const textOf = (wanted: string): string | undefined => {
    const field = own.find(({ name }) => name === wanted);
    return field && textOfField(field).trim();
  };
  const sender = readOptionalMailbox({ fields, ...message }, 'From');
  const isOther =
    from && sender && normalizeAddress(from.address) !== normalizeAddress(sender.address);
  const ownPath =
    'must be the From of the message, because Signalpost writes the return path itself';
  place.refuseIf(isOther, ownPath, 'FromEmailAddress');
  const found = asked ?? recipientsOf(fields, place.at('Destination'));
  const distinct = new Map(found.map(({ address }) => [normalizeAddress(address), address]));
  const [to, ...others] = distinct.values();
  place.refuseIf(to === undefined, 'is required, or a To field in the message', 'Destination');
  const tooMany = `has more than ${maxContentRecipients} recipients`;
  place.refuseIf(others.length >= maxContentRecipients, tooMany, 'Destination');
  place.end();
  return {
    message: { ...message, fields: fields.filter(({ name }) => !name.startsWith(sesPrefix)) },
    control: {
      ...control,
      tag: tag ?? textOf(setField) ?? control.tag,
      attributes: attributes ?? readTags(textOf(tagsField)) ?? control.attributes,
    },
    recipients: [to as EmailAddress, ...others] as const,
  };
}

/** `name=value, name=value` */
function readTags(text: string | undefined): Record<string, string> | undefined {
  const pairs = text?.split(',').map((pair) => pair.split('='));
  const tags = pairs?.map(([name = '', ...value]) => [name.trim(), value.join('=').trim()]);
  return tags && Object.fromEntries(tags);
}

function recipientsOf(fields: readonly HeaderField[], place: Place) {
  return ['to', 'cc', 'bcc']
    .flatMap((wanted) => fields.filter(({ name }) => name === wanted))
    .flatMap(({ value }) => parseMailboxes(value, maxContentRecipients + 1))
    .map(({ address }) => readMailbox(address, place));
}
