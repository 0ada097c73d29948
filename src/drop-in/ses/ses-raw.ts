import type { HeaderField } from '../../base/mime/header-fields.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import {
  type EmailAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { toRawMessage } from '../../sending/smtp-submission/raw-submission.ts';
import { readControlFields } from '../../sending/smtp-submission/read-control-fields.ts';
import { readMessageHead, textOfField } from '../../sending/smtp-submission/read-message-head.ts';
import { normalizeLineBreaks } from '../../sending/smtp-submission/receive-message.ts';
import { readOptionalMailbox } from '../../sending/smtp-submission/template-submission.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { decodeBase64 } from '../../sending/submission/decode-base64.ts';
import { maxContentRecipients, withMemory } from '../../sending/submission/send-content.ts';
import type { DropInRequest } from '../provider/drop-in.ts';
import { invalidMember, invalidMembers } from '../provider/members.ts';
import { readMailbox } from '../provider/read-mailboxes.ts';
import { rightOf } from '../provider/send-messages.ts';
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
  const right = rightOf(request);
  return withMemory(right, raw.data.length, async () => {
    const decoded = await decodeBase64(raw.data);
    if (decoded === undefined) throw invalidMember('Content.Raw.Data', 'is not base64');
    const source = await normalizeLineBreaks(decoded.content);
    if (source === undefined) throw invalidMember('Content.Raw.Data', 'has a bare CR or a NUL');
    const { submission, headerRules, clock } = request.services;
    const trace = { receivedAt: new Date(clock.now()) };
    const message = toRawMessage({ ...readRaw(source, raw), idempotencyKey }, trace, headerRules);
    return submission.sendRaw(right, { ...message, span: request.span });
  });
}

function readRaw(source: Buffer, { from, recipients, attributes, tag }: SesRaw) {
  const details: FaultDetail[] = [];
  const message = readMessageHead(source);
  const control = readControlFields(message.fields);
  if (control.template !== undefined)
    details.push({
      field: 'X-Signalpost-Template',
      reason: 'can’t be used here; use Content.Template',
    });
  const own = message.fields.filter(({ name }) => name.startsWith(sesPrefix));
  for (const { name } of own)
    if (name !== setField && name !== tagsField)
      details.push({ field: name, reason: 'isn’t supported; remove it' });
  const textOf = (wanted: string): string | undefined => {
    const field = own.find(({ name }) => name === wanted);
    return field && textOfField(field).trim();
  };
  const given = from === undefined ? undefined : readMailbox(from, 'FromEmailAddress', details);
  const sender = readOptionalMailbox(message, 'From');
  if (
    given !== undefined &&
    sender !== undefined &&
    normalizeAddress(given.address) !== normalizeAddress(sender.address)
  )
    details.push({
      field: 'FromEmailAddress',
      reason: 'must be the From of the message, because Signalpost writes the return path itself',
    });
  const [to, ...others] = readRecipients(recipients ?? recipientsOf(message.fields), details);
  if (to === undefined)
    details.push({ field: 'Destination', reason: 'is required, or a To field in the message' });
  if (others.length >= maxContentRecipients)
    details.push({
      field: 'Destination',
      reason: `has more than ${maxContentRecipients} recipients`,
    });
  if (details.length > 0 || to === undefined) throw invalidMembers(details);
  return {
    message: {
      ...message,
      fields: message.fields.filter(({ name }) => !name.startsWith(sesPrefix)),
    },
    control: {
      ...control,
      tag: tag ?? textOf(setField) ?? control.tag,
      attributes: attributes ?? readTags(textOf(tagsField)) ?? control.attributes,
    },
    recipients: [to, ...others] as const,
  };
}

/** `name=value, name=value` */
function readTags(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.map(([name = '', ...value]) => [name.trim(), value.join('=').trim()]),
  );
}

function recipientsOf(fields: readonly HeaderField[]): string[] {
  return ['to', 'cc', 'bcc'].flatMap((wanted) =>
    fields
      .filter(({ name }) => name === wanted)
      .flatMap(({ value }) => parseMailboxes(value, maxContentRecipients + 1))
      .map(({ address }) => address),
  );
}

/** Each address once. */
function readRecipients(texts: readonly string[], details: FaultDetail[]): EmailAddress[] {
  const found = new Map<string, EmailAddress>();
  for (const text of texts) {
    const parsed = parseEmailAddress(text);
    const address = parsed.ok ? parsed.address : readMailbox(text, 'Destination', details).address;
    found.set(normalizeAddress(address), address);
  }
  return [...found.values()];
}
