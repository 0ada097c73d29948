import { Type } from 'typebox';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { htmlText } from '../../content/template/html-text.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import { MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { readMailbox, readMailboxes } from '../provider/read-mailboxes.ts';
import { type ProviderMessage, typeOfFile } from '../provider/send-messages.ts';

const maxRecipients = 50;
const maxAddress = 2_000;

const Address = Type.String({ maxLength: maxAddress });
const Addresses = Type.Union([Address, Type.Array(Address, { maxItems: maxRecipients })]);
const Anything = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });

export const emailMembers = new MemberTable({
  from: supported(Address),
  to: supported(Addresses),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  reply_to: mapped(Addresses, 'needs verified senders'),
  subject: supported(Type.String()),
  html: supported(Type.String()),
  text: mapped(
    Type.String(),
    'is derived from `html` if it is absent, as Resend does, and left out if it is empty',
  ),
  headers: mapped(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers',
  ),
  attachments: supported(Type.Array(Anything, { maxItems: 100 })),
  tags: mapped(
    Type.Array(Anything, { maxItems: 100 }),
    'become attributes: up to 20, with names of 40 and values of 200 characters',
  ),
  scheduled_at: mapped(
    Type.String({ maxLength: 100 }),
    'is an ISO 8601 time with an offset, or `in 5 minutes`, `in 2 hours` or `in 3 days`; up to 365 days ahead',
  ),
  template: supported(Anything),
  topic_id: refused('isn’t supported, because Signalpost has no topics'),
});

export const attachmentMembers = new MemberTable({
  content: supported(Type.String()),
  filename: mapped(Type.String(), 'is required'),
  content_type: mapped(
    Type.String(),
    'is derived from the extension of `filename` if it is absent',
  ),
  content_id: supported(Type.String()),
  path: refused('isn’t supported, because Signalpost fetches no files; send their content'),
});

export const tagMembers = new MemberTable({
  name: supported(Type.String()),
  value: supported(Type.String()),
});

export const templateMembers = new MemberTable({
  id: mapped(
    Type.String({ maxLength: 200 }),
    'is the ID of a published template of the account; `signalpost import` makes it the alias, or Resend’s ID',
  ),
  variables: mapped(
    Type.Unsafe<Readonly<Record<string, string | number>>>({
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    }),
    'become values of its fields, numbers as text',
  ),
});

/** The members of Resend's email by those of the send body. */
export const emailNames = {
  'envelope.toAddress': 'to',
  'envelope.toDisplayName': 'to',
  'envelope.ccAddressList': 'cc',
  'envelope.bccAddressList': 'bcc',
  'envelope.fromAddress': 'from',
  'envelope.fromDisplayName': 'from',
  'envelope.replyToAddress': 'reply_to',
  envelope: 'to, cc and bcc',
  content: 'html or text',
  'content.subjectLine': 'subject',
  'content.html': 'html',
  'content.text': 'text',
  'content.headers': 'headers',
  'content.attachments': 'attachments',
  'content.personalizationDataMap': 'template.variables',
  'metadata.attributes': 'tags',
  'actions.sendAt': 'scheduled_at',
  templateId: 'template.id',
} as const;

/**
 * Translates an email of Resend's API.
 * @param contents of its attachments, by their placeholders
 * @throws Fault VALIDATION_FAILED with the members of Resend's email
 */
export function readEmail(
  value: unknown,
  contents: BodyJson['contents'],
  now: number,
): ProviderMessage {
  const email = emailMembers.read(value);
  const details: FaultDetail[] = [];
  const from = email.from === undefined ? undefined : readMailbox(email.from, 'from', details);
  const to = readMailboxes(email.to, 'to', details);
  const cc = readMailboxes(email.cc, 'cc', details);
  const bcc = readMailboxes(email.bcc, 'bcc', details);
  const replyTo = readMailboxes(email.reply_to, 'reply_to', details);
  if (to.length === 0) details.push({ field: 'to', reason: 'is required' });
  const attributes = readTags(email.tags, details);
  const sendAt = readSchedule(email.scheduled_at, now, details);
  const attachments = readFiles(email.attachments, contents, details);
  const { template } = email;
  if (template === undefined) {
    if (from === undefined) details.push({ field: 'from', reason: 'is required' });
    if (email.subject === undefined) details.push({ field: 'subject', reason: 'is required' });
  } else {
    for (const name of ['html', 'text'] as const)
      if (email[name] !== undefined)
        details.push({ field: name, reason: 'can’t be used with template' });
    if (to.length > 1)
      details.push({
        field: 'to',
        reason: 'can’t have several addresses with template; send an email to each',
      });
    if (replyTo.length > 1)
      details.push({ field: 'reply_to', reason: 'can’t have several addresses with template' });
  }
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
  const { subject = '', html, headers } = email;
  if (template === undefined && from !== undefined)
    return {
      content: {
        from,
        to,
        cc,
        bcc,
        replyTo,
        subject,
        html,
        text: email.text ?? (html === undefined ? undefined : htmlText(html)),
        headers,
        attachments,
        attributes,
        sendAt,
      },
    };
  const { id, variables = {} } = templateMembers.read(template, 'template.');
  if (id === undefined)
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: 'template.id', reason: 'is required' }],
    });
  const values = Object.entries(variables).map(([name, given]) => [name, String(given)]);
  const files = attachments?.map(({ placeholder, ...file }) => ({ ...file, content: placeholder }));
  return {
    templateId: id,
    contents,
    body: withoutUndefined({
      envelope: withoutUndefined({
        toAddress: to[0]?.address,
        toDisplayName: to[0]?.name,
        ccAddressList: cc.map(({ address }) => address),
        bccAddressList: bcc.map(({ address }) => address),
        fromAddress: from?.address,
        fromDisplayName: from?.name,
        replyToAddress: replyTo[0]?.address,
      }),
      content: withoutUndefined({
        subjectLine: email.subject,
        personalizationDataMap: Object.fromEntries(values),
        headers,
        attachments: files,
      }),
      metadata: withoutUndefined({ attributes }),
      actions: withoutUndefined({ trackOpens: false, trackClicks: false, sendAt }),
    }),
  };
}

function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function readTags(
  tags: readonly unknown[] | undefined,
  details: FaultDetail[],
): Readonly<Record<string, string>> | undefined {
  if (tags === undefined) return undefined;
  const attributes = new Map<string, string>();
  tags.forEach((tag, index) => {
    const field = `tags[${index}].name`;
    const { name, value = '' } = tagMembers.read(tag, `tags[${index}].`);
    if (name === undefined) details.push({ field, reason: 'is required' });
    else if (attributes.has(name)) details.push({ field, reason: 'is given twice' });
    else attributes.set(name, value);
  });
  return Object.fromEntries(attributes);
}

function readFiles(
  attachments: readonly unknown[] | undefined,
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  return attachments?.map((attachment, index) => {
    const place = `attachments[${index}].`;
    const file = attachmentMembers.read(attachment, place);
    for (const name of ['filename', 'content'] as const)
      if (file[name] === undefined) details.push({ field: place + name, reason: 'is required' });
    const { filename = '', content = '', content_type: type, content_id: contentId } = file;
    return {
      filename,
      contentType: type ?? typeOfFile(filename),
      ...(contentId !== undefined && { contentId }),
      content: contents?.get(content) ?? content,
      placeholder: content,
    };
  });
}

const relativeTime = /^in (\d{1,5}) ?(min|minute|hour|h|day)s?$/i;
const minuteMs = 60_000;
const unitMs: Readonly<Record<string, number>> = {
  min: minuteMs,
  minute: minuteMs,
  h: 60 * minuteMs,
  hour: 60 * minuteMs,
  day: 24 * 60 * minuteMs,
};

/** The send time as the send operation takes it. @param now milliseconds since the epoch */
export function readSchedule(
  text: string | undefined,
  now: number,
  details: FaultDetail[],
): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = relativeTime.exec(text.trim()) ?? [];
  const time =
    count === undefined
      ? Date.parse(/[zZ]|[+-]\d{2}:?\d{2}$/.test(text) ? text : 'no time')
      : now + Number(count) * (unitMs[unit.toLowerCase()] ?? 0);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const reason = 'must be a time such as 2026-01-31T12:00:00Z or in 5 minutes';
  details.push({ field: 'scheduled_at', reason });
  return undefined;
}
