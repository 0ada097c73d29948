import { Type } from 'typebox';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import { limitDetails } from '../../sending/submission/describe-body-problems.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import type { Mailbox } from '../../sending/submission/send-content.ts';
import {
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  type DropInRequest,
  defineDropIn,
  ok,
  on,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import {
  type FormFile,
  maxFormTextBytes,
  readForm,
  type SubmittedForm,
} from '../provider/form-data.ts';
import {
  attributesNote,
  invalidMember,
  invalidMembers,
  MemberTable,
  mapped,
  namesOf,
  supported,
} from '../provider/members.ts';
import { readMailbox, readMailboxes, splitMailboxes } from '../provider/read-mailboxes.ts';
import {
  checkUnsent,
  type ProviderMessage,
  readObject,
  sendMessage,
  toFieldValues,
  toMessage,
  typeOfFile,
} from '../provider/send-messages.ts';
import { toMembers } from './mailgun-form.ts';
import { mailgunReads } from './mailgun-reads.ts';

/** Of a batch, as Mailgun has it. */
const maxBatchRecipients = 1_000;
/** Texts and files of all messages of a batch: each is stored for itself. */
const maxBatchBytes = 64 * mebibyte;
/** Characters of one message with its variables. */
const maxFilledLength = mebibyte;

const Addresses = Type.Array(Type.String(), { maxItems: maxBatchRecipients });
const Files = Type.Array(Type.Unsafe<FormFile>({ type: 'object' }), { maxItems: 100 });
const Switch = Type.Enum(['yes', 'no', 'true', 'false']);
const Yes = Type.Enum(['yes', 'true']);
const No = Type.Enum(['no', 'false']);

const noRegions = 'isn’t supported; Signalpost sends from the addresses that its operator sets';
const noHours = 'isn’t supported; give `o:deliverytime` instead';
const fileNote = 'has the type of its part, or of its extension';

/** The form of `/messages`. */
const messageMembers = new MemberTable({
  from: 'address',
  to: mapped(
    Addresses,
    'can be repeated or separated by commas; with `cc` and `bcc` up to 150, with `recipient-variables` up to 1,000',
  ),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  subject: 'text',
  text: 'text',
  html: 'text',
  attachment: mapped(Files, fileNote),
  inline: mapped(Files, `${fileNote}; the HTML shows it as \`cid:\` with its file name`),
  template:
    'short: is the ID of a published template of the account; `signalpost import` makes it the name',
  't:variables':
    'text: become values of its fields: numbers as text, `false` and `null` as empty text',
  't:text': mapped(Yes, 'can be `yes`; messages from templates always have a text part'),
  't:version': 'refused: isn’t supported; the published version is sent',
  'recipient-variables':
    'text: replace `%recipient.…%` in subject, text, HTML, headers and variables, unescaped; one without a value is refused',
  'h:*':
    'texts: can be `Reply-To` (verified senders), `X-Mailgun-Variables` (as `t:variables`, or as `v:` without a template), `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`',
  'o:tag': mapped(
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: 10 }),
    'groups messages in reports, up to 48 characters; further tags become the attributes `tag-2`, `tag-3`…',
  ),
  'o:testmode': mapped(
    Switch,
    'delivers to the account’s inbox only, as a [test key](../test-email.md) does',
  ),
  'o:deliverytime': 'short: is a time as in RFC 2822, up to 365 days ahead',
  'o:tracking': mapped(Switch, 'is both of the following; tracking is off unless asked for'),
  'o:tracking-opens': supported(Switch),
  'o:tracking-clicks': mapped(
    Type.Enum(['yes', 'no', 'true', 'false', 'htmlonly']),
    'tracks links of the HTML only',
  ),
  'o:dkim': mapped(Yes, 'can be `yes`; every message is signed'),
  'o:require-tls': mapped(No, 'can be `no`; an operator requires TLS for the receiving domain'),
  'o:skip-verification': mapped(No, 'can be `no`'),
  'o:campaign': 'refused: isn’t supported; use `o:tag`',
  'o:deliverytime-optimize-period': `refused: ${noHours}`,
  'o:time-zone-localize': `refused: ${noHours}`,
  'o:sending-ip': `refused: ${noRegions}`,
  'o:sending-ip-pool': `refused: ${noRegions}`,
  'v:*': `texts: ${attributesNote}`,
  'amp-html': 'refused: isn’t supported; send `html`',
});

/** The members of the forms by those of the send body. */
const messageNames = namesOf({
  replyTo: 'h:Reply-To',
  envelope: 'to, cc and bcc',
  content: 'html or text',
  headers: 'h:',
  attachments: 'attachment',
  values: 't:variables',
  attributes: 'v:',
  tag: 'o:tag',
  sendAt: 'o:deliverytime',
  trackOpens: 'o:tracking-opens',
  trackClicks: 'o:tracking-clicks',
  templateId: 'template',
});

function isYes(choice: string | undefined): boolean {
  return choice === 'yes' || choice === 'true' || choice === 'htmlonly';
}

const hasZone = /(?:[+-]\d{2}:?\d{2}|\b(?:GMT|UTC?)|\dZ)$/i;

/** @returns RFC 3339 */
function readTime(text: string | undefined, details: FaultDetail[]): string | undefined {
  if (text === undefined) return undefined;
  const time = hasZone.test(text.trim()) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const reason = 'must be a time such as Fri, 14 Oct 2026 23:10:10 +0000';
  details.push({ field: 'o:deliverytime', reason });
  return undefined;
}

/** A message, or one for each recipient of a batch. */
interface MailgunSend {
  readonly from: EmailAddress;
  readonly isTest: boolean;
  /** Of a batch: each gets a message of their own. */
  readonly recipients: readonly Mailbox[] | undefined;
  /** @throws Fault PERSONALIZATION_FAILURE if a variable has no value */
  readonly messageTo: (recipient: Mailbox | undefined) => ProviderMessage;
}

/**
 * Translates the form of `/messages`.
 * @throws Fault VALIDATION_FAILED with its members
 */
function readMailgunMessage(form: SubmittedForm): MailgunSend {
  const email = messageMembers.read(toMembers(form));
  const details: FaultDetail[] = [];
  const add = (field: string, reason: string): void => void details.push({ field, reason });
  const { from: sender, subject, html, text, template: templateId } = email;
  const { headers, replyTo, variables: headerVariables } = readHeaders(email['h:*'], details);
  const from = sender === undefined ? undefined : readMailbox(sender, 'from', details);
  const to = readRecipients(email.to, 'to', details);
  for (const [name, part] of Object.entries({ html, text }))
    if (part !== undefined && unsubscribeVariable.test(part))
      add(name, 'has %unsubscribe_url%, which Signalpost can’t fill; it adds unsubscribe headers');
  const people = readObject(email['recipient-variables'], 'recipient-variables', details);
  const variables = readObject(email['t:variables'], 't:variables', details);
  if (to.length === 0) add('to', 'is required');
  for (const name of ['t:variables', 't:text'] as const)
    if (templateId === undefined && email[name] !== undefined) add(name, 'needs template');
  for (const name of ['cc', 'bcc'] as const)
    if (people !== undefined && email[name] !== undefined)
      add(name, 'can’t be used with recipient-variables');
  const isStored = templateId !== undefined;
  const [tag, ...moreTags] = email['o:tag'] ?? [];
  const attributes = {
    ...email['v:*'],
    ...Object.fromEntries(moreTags.map((one, index) => [`tag-${index + 2}`, one])),
    ...(!isStored && textsOf(headerVariables)),
  };
  const fixed = {
    subject,
    html,
    text,
    headers,
    attributes: Object.keys(attributes).length === 0 ? undefined : attributes,
    values: isStored ? { ...email['v:*'], ...headerVariables, ...variables } : undefined,
  };
  const tracking = email['o:tracking'];
  const mail = {
    templateId,
    from,
    to,
    cc: readRecipients(email.cc, 'cc', details),
    bcc: readRecipients(email.bcc, 'bcc', details),
    replyTo,
    attachments: [...readFiles(email, 'attachment'), ...readFiles(email, 'inline')],
    tag,
    sendAt: readTime(email['o:deliverytime'], details),
    trackOpens: isYes(email['o:tracking-opens'] ?? tracking),
    trackClicks: isYes(email['o:tracking-clicks'] ?? tracking),
  };
  const variablesOf = new Map(
    Object.entries(people ?? {}).map(([address, own]) => [address.trim().toLowerCase(), own]),
  );
  const fileBytes = mail.attachments.reduce((sum, { content }) => sum + content.decoded.length, 0);
  const share = Math.min(maxFilledLength, maxBatchBytes / Math.max(to.length, 1) - fileBytes);
  const budget = people === undefined ? 0 : share - JSON.stringify(fixed).length;
  if (budget < 0) details.push(tooLarge);
  const messageTo = (recipient: Mailbox | undefined): ProviderMessage => {
    const own = recipient === undefined ? fixed : fillFor(recipient, variablesOf, fixed, budget);
    const values = own.values && toFieldValues(own.values);
    return toMessage(
      { ...mail, ...own, values, to: recipient === undefined ? to : [recipient] },
      [],
    );
  };
  // Tells what is wrong with all of them.
  toMessage(
    { ...mail, ...fixed, values: {}, to: people === undefined ? to : to.slice(0, 1) },
    details,
  );
  if (from === undefined) throw invalidMember('from', 'is required');
  const isTest = isYes(email['o:testmode']);
  return { from: from.address, isTest, recipients: people && to, messageTo };
}

/** Lists of addresses, separated by commas outside of quotes. */
function readRecipients(
  given: readonly string[] | undefined,
  field: string,
  details: FaultDetail[],
): Mailbox[] {
  const texts = given?.flatMap((text) => splitMailboxes(text, field, details)) ?? [];
  if (texts.length <= maxBatchRecipients) return readMailboxes(texts, field, details);
  details.push({ field, reason: `has more than ${maxBatchRecipients} addresses` });
  return [];
}

function readHeaders(given: Readonly<Record<string, string>> = {}, details: FaultDetail[]) {
  const own = new Map<string, string>();
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (lower === 'reply-to' || lower === 'x-mailgun-variables') own.set(lower, value);
    else headers.set(name, value);
  }
  const reply = own.get('reply-to');
  const json = own.get('x-mailgun-variables');
  return {
    replyTo: readRecipients(reply === undefined ? [] : [reply], 'h:Reply-To', details),
    variables: readObject(json, 'h:X-Mailgun-Variables', details),
    headers: headers.size === 0 ? undefined : Object.fromEntries(headers),
  };
}

function readFiles(
  given: { readonly [Name in 'attachment' | 'inline']?: readonly FormFile[] },
  name: 'attachment' | 'inline',
) {
  return (given[name] ?? []).map(({ filename, contentType, content }) => ({
    filename,
    // What FormData writes for bytes says nothing.
    contentType: /^(?:application\/octet-stream)?$/.test(contentType)
      ? typeOfFile(filename)
      : contentType,
    contentId: name === 'inline' ? filename : undefined,
    content: { decoded: content },
  }));
}

/** Each value as text, lists and objects as JSON. */
function textsOf(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(texts);
}

const tooLarge: FaultDetail = {
  field: 'recipient-variables',
  reason: `makes more than ${formatBytes(maxBatchBytes)} of messages, or one of more than ${formatBytes(maxFilledLength)}; send several requests`,
};

const unsubscribeVariable = /%(?:tag_|mailing_list_)?unsubscribe_url%/;
/** In JSON, whose strings it doesn't leave. */
const recipientVariable = /%recipient(?:\.([^%\s"\\]{1,100}))?%/g;

/**
 * Fills in the variables of a recipient. Not escaped, as with Mailgun, whose values can have HTML.
 * @param budget characters that the variables can have
 */
function fillFor<Parts>(
  { address }: Mailbox,
  variablesOf: ReadonlyMap<string, unknown>,
  parts: Parts,
  budget: number,
): Parts {
  let left = budget;
  const given = variablesOf.get(address.toLowerCase());
  const own = new Map<string, unknown>(
    typeof given === 'object' && given !== null ? Object.entries(given) : [],
  );
  const missing = new Set<string>();
  const textOf = (name: string | undefined): string => {
    if (name === undefined) return address;
    const found = own.get(name);
    if (found !== undefined && typeof found !== 'object') return String(found);
    missing.add(name);
    return '';
  };
  const filled = JSON.stringify(parts).replaceAll(recipientVariable, (_, name?: string) => {
    const text = textOf(name);
    left -= text.length;
    if (left < 0) throw invalidMembers([tooLarge]);
    return JSON.stringify(text).slice(1, -1);
  });
  if (missing.size === 0) return JSON.parse(filled) as Parts;
  const details = [...missing].map((name) => ({
    field: `recipient-variables.${address}.${name}`,
    reason: 'has no value',
  }));
  throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
}

const calls: readonly DropInCall[] = [
  on(
    'POST /v3/:domain/messages messages:send: send an email, now or later, from its content or a template, or one to each recipient',
    send,
    {
      bodyBytes: maxFormTextBytes,
      withAttachments: true,
      members: { '': messageMembers },
      names: messageNames,
    },
  ),
  ...mailgunReads,
];

/** Mailgun's API (https://documentation.mailgun.com/docs/mailgun/api-reference), as version 14 of its SDK calls it. */
export const mailgun = defineDropIn({
  name: 'mailgun',
  title: 'Mailgun',
  keyOf: ({ authorization = '' }) => {
    const [, encoded = ''] = /^basic +([A-Za-z0-9+/_-]{1,1000}=*) *$/i.exec(authorization) ?? [];
    return /^api:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
  },
  calls,
  describeError: describeMailgunError,
  environment: (url, key) => ({ MAILGUN_API_KEY: key, MAILGUN_URL: url }),
});

/** Statuses that differ from those of the send operation. */
const statuses: Partial<Readonly<Record<DropInError['kind'], number>>> = {
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  INVALID_ID: 404,
  SENDER_NOT_ALLOWED: 403,
  IDEMPOTENCY_MISMATCH: 409,
};

function describeMailgunError({ kind, status, message }: DropInError): DropInAnswer {
  // `h:` and `v:` are prefixes of the names that follow.
  const text = message.replaceAll(/\b([hv]:)\./gi, '$1');
  return ok({ message: text }, statuses[kind] ?? status);
}

const thanks = 'Queued. Thank you.';

function queued(id: string, message = thanks): DropInAnswer {
  return ok({ id, message });
}

async function send(request: DropInRequest): Promise<DropInAnswer> {
  const given = readMailgunMessage(await readForm(request.body, request.headers['content-type']));
  const sender = given.isTest ? { ...request, admission: request.admission.forTest } : request;
  if (given.recipients !== undefined) return sendToEach(sender, given, given.recipients);
  const { messageId } = await sendMessage(sender, given.messageTo(undefined), {
    span: request.span,
  });
  return queued(idOf(messageId, given.from));
}

/** As in webhooks: the Message-ID of the first recipient's message. */
function idOf(messageId: string, from: EmailAddress): string {
  return `<${messageId}@${domainOf(from)}>`;
}

const maxNamed = 10;

/**
 * Sends a message to each recipient of a batch, unless one of them can't be sent. Then it is too late to refuse all: what becomes
 * impossible meanwhile, or because an address is suppressed, is told in the answer.
 */
async function sendToEach(
  request: DropInRequest,
  { from, messageTo }: MailgunSend,
  recipients: NonNullable<MailgunSend['recipients']>,
): Promise<DropInAnswer> {
  const { services, admission, span } = request;
  // Only for its slot: the messages are made one by one.
  const places = Buffer.from(JSON.stringify({ messages: recipients.map((_, at) => ({ at })) }));
  return services.submission.useItems(admission.account.id, places, async () => {
    const checked = await forEach(recipients, async (recipient) =>
      checkUnsent(request, messageTo(recipient)),
    );
    const refused = checked.find((one) => one instanceof Fault);
    if (refused !== undefined) throw refused;
    const results = await forEach(recipients, async (recipient) =>
      sendMessage(request, messageTo(recipient), { span }),
    );
    const sent = results.find((one) => !(one instanceof Fault));
    const failures = results.flatMap((one, at) =>
      one instanceof Fault ? [{ fault: one, address: recipients[at]?.address }] : [],
    );
    if (sent === undefined || sent instanceof Fault) throw failures[0]?.fault;
    const named = failures.slice(0, maxNamed).map(({ fault, address }) => {
      const { message } = describeError(fault, messageNames);
      return `${address}: ${message}`;
    });
    const id = idOf(sent.messageId, from);
    if (named.length === 0) return queued(id);
    const count = `Not sent to ${failures.length} of ${recipients.length} recipients.`;
    return queued(id, [thanks, count, ...named].join(' '));
  });
}
