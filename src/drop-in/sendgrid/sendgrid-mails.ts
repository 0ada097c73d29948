import { type Static, Type } from 'typebox';
import { parseEmailAddress } from '../../base/values/email-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { hasControlCharacter } from '../../sending/submission/custom-headers.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import type { Mailbox } from '../../sending/submission/send-content.ts';
import {
  attributesNote,
  type BodyMember,
  headersNote,
  invalidMembers,
  MemberTable,
  mapped,
  namesOf,
  supported,
} from '../provider/members.ts';
import {
  type ProviderMessage,
  toFieldValues,
  toFile,
  toMessage,
} from '../provider/send-messages.ts';

const maxPersonalizations = 1_000;
/** Content and attachments of a request, counted for each of its personalizations: each becomes a message of its own. */
const maxTotalBytes = 64 * mebibyte;

type Members = Readonly<Record<string, unknown>>;

const Anything = Type.Unsafe<Members>({ type: 'object' });
const Address = Type.Object(
  {
    email: Type.String({ maxLength: 2_000 }),
    name: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1_000 })),
  },
  { additionalProperties: false },
);
const Addresses = Type.Array(Address, { maxItems: 150 });
/** Seconds since the epoch, up to the year 9999. */
const Seconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });
interface Setting {
  readonly enable?: boolean | null;
  readonly enable_text?: unknown;
  readonly substitution_tag?: unknown;
}
const Switch = Type.Unsafe<Setting>({
  type: 'object',
  properties: { enable: { type: ['boolean', 'null'] } },
});

const sendAt = mapped(Seconds, 'can be up to 365 days ahead');
/** A setting with this note is refused if it's on. */
const cannotBeOn = 'can’t be enabled';
const noBypass = mapped(Switch, `${cannotBeOn}; remove the suppression instead`);

const personTable = new MemberTable({
  to: mapped(Addresses, 'has one address if there is a `template_id`'),
  from: supported(Address),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  subject: 'text: replaces the template’s subject',
  headers: `texts: ${headersNote}`,
  substitutions:
    'texts: are values of `{{name}}`, the SDK’s default, and escaped in HTML; other wrappers are refused',
  dynamic_template_data:
    'object: become values of the template’s fields: numbers and `true` as text, `false` and null as empty text',
  custom_args: `texts: ${attributesNote}`,
  send_at: sendAt,
});
const trackingTable = new MemberTable({
  click_tracking: mapped(Switch, 'tracks links of the HTML; `enable_text` is refused'),
  open_tracking: mapped(Switch, 'adds its image at the end; `substitution_tag` is refused'),
  subscription_tracking: mapped(
    Switch,
    `${cannotBeOn}; the service writes its own unsubscribe headers`,
  ),
  ganalytics: mapped(Switch, `${cannotBeOn}; add the parameters to your links`),
});
const settingTable = new MemberTable({
  sandbox_mode: supported(Switch),
  bypass_unsubscribe_management: mapped(
    Switch,
    'makes the email transactional, which needs the account’s add-on',
  ),
  bypass_list_management: noBypass,
  bypass_spam_management: noBypass,
  bypass_bounce_management: noBypass,
  footer: mapped(Switch, `${cannotBeOn}; write it into the content`),
  spam_check: mapped(Switch, `${cannotBeOn}; Signalpost doesn’t score mail`),
  bcc: mapped(Switch, `${cannotBeOn}; use the bcc of a personalization`),
});
const contentTable = new MemberTable({
  type: 'text: is `text/plain` or `text/html`, each once',
  value: 'text',
});
const fileTable = new MemberTable({
  content: 'text',
  filename: 'text',
  type: 'text: is derived from the extension of `filename` if it is absent',
  disposition: 'text: is `attachment`, the default, or `inline`',
  content_id: 'text: applies to `inline` files, which need one',
});
const mailTable = new MemberTable({
  personalizations: supported(Type.Array(Anything, { maxItems: maxPersonalizations })),
  from: supported(Address),
  reply_to: mapped(Address, 'needs a verified sender'),
  reply_to_list: mapped(Addresses, 'needs verified senders; one with a `template_id`'),
  subject: 'text: replaces the template’s subject',
  content: supported(Type.Array(Anything, { maxItems: 10 })),
  attachments: 'list',
  template_id:
    'short: is the ID of a published template of the account; `signalpost import` keeps SendGrid’s ID',
  headers: `texts: ${headersNote}`,
  categories: mapped(
    Type.Array(Type.String(), { maxItems: 10 }),
    'become the tag: the first, up to 48 characters; several also become the attribute `categories`',
  ),
  custom_args: `texts: ${attributesNote}`,
  send_at: sendAt,
  batch_id: 'text: becomes the external ID; it is one from POST `/v3/mail/batch`',
  tracking_settings: 'object',
  mail_settings: 'object',
  sections: 'refused: isn’t supported; use a template, or put the text into the content',
  asm: 'refused: isn’t supported, because Signalpost has no unsubscribe groups',
  ip_pool_name: 'refused: isn’t supported, because Signalpost has no IP pools',
});

export const mailSendMembers = {
  '': mailTable,
  'personalizations[]': personTable,
  'content[]': contentTable,
  'attachments[]': fileTable,
  tracking_settings: trackingTable,
  mail_settings: settingTable,
};

/** SendGrid's members by those of the send body. @param index of the personalization */
export function mailNames(index: number | string): Readonly<Record<string, string>> {
  const place = `personalizations[${index}].`;
  return namesOf({
    to: `${place}to`,
    cc: `${place}cc`,
    bcc: `${place}bcc`,
    replyTo: 'reply_to',
    envelope: `personalizations[${index}]`,
    html: 'content',
    text: 'content',
    values: `${place}dynamic_template_data`,
    attributes: 'custom_args',
    externalId: 'batch_id',
    tag: 'categories',
    transactional: 'mail_settings.bypass_unsubscribe_management',
    sendAt: 'send_at',
    templateId: 'template_id',
    idempotencyKey: 'Idempotency-Key',
  });
}

/** What a request asks for. */
export interface SendGridMail {
  /** Check everything, and send nothing. */
  readonly isSandboxed: boolean;
  /** One for each personalization. Each call makes a message that can be sent once. */
  readonly messages: readonly (() => ProviderMessage)[];
}

/**
 * Translates the body of mail/send.
 * @param contents of its attachments, by their placeholders
 * @param isBatch whether a batch ID is one of the account
 * @throws Fault VALIDATION_FAILED with SendGrid's members
 */
export function readMailSend(
  { value, contents }: Pick<BodyJson, 'value' | 'contents'>,
  isBatch: (id: string) => boolean,
): SendGridMail {
  const mail = mailTable.read(value);
  const details: FaultDetail[] = [];
  const refuse = (field: string, reason: string, isWrong: boolean): void => {
    if (isWrong) details.push({ field, reason });
  };
  const { personalizations = [], batch_id: externalId, template_id: templateId } = mail;
  const parts = readContent(mail.content ?? [], details);
  const files = readFiles(mail.attachments ?? [], contents, details);
  const tracking = readTracking(mail.tracking_settings ?? {}, details);
  const settings = readSettings(settingTable, mail.mail_settings ?? {}, 'mail_settings.', details);
  const isStored = templateId !== undefined;
  const isShared = personalizations.length > 1;
  const bytes = [parts.html, parts.text, ...files.map(({ content }) => content as string | Buffer)]
    .map((part) => part?.length ?? 0)
    .reduce((sum, length) => sum + length, 0);
  refuse('personalizations', 'is required', personalizations.length === 0);
  refuse(
    'personalizations',
    'need more than 64 MiB with content and attachments; send several requests',
    isShared && bytes * personalizations.length > maxTotalBytes,
  );
  const isForeign = externalId !== undefined && !isBatch(externalId);
  refuse('batch_id', 'isn’t one from POST /v3/mail/batch', isForeign);
  const isTwice = mail.reply_to !== undefined && mail.reply_to_list !== undefined;
  refuse('reply_to_list', 'can’t be used with reply_to', isTwice);
  refuse('content', 'can’t be used with template_id', isStored && mail.content !== undefined);
  const shared = {
    ...parts,
    ...tracking,
    templateId,
    externalId,
    replyTo: [
      ...toMailboxes(mail.reply_to && [mail.reply_to], 'reply_to', details),
      ...toMailboxes(mail.reply_to_list, 'reply_to_list', details),
    ],
    transactional: settings.has('bypass_unsubscribe_management') || undefined,
  };
  const categories = mail.categories?.filter((category) => category !== '') ?? [];
  const messages = personalizations.map((given, index) => {
    const place = `personalizations[${index}].`;
    const own = personTable.read(given, place);
    const from = own.from ?? mail.from;
    const seconds = own.send_at ?? mail.send_at;
    const person = {
      ...shared,
      from: toMailboxes(from && [from], 'from', details)[0],
      to: toMailboxes(own.to, `${place}to`, details),
      cc: toMailboxes(own.cc, `${place}cc`, details),
      bcc: toMailboxes(own.bcc, `${place}bcc`, details),
      subject: own.subject ?? mail.subject,
      values: readValues(own, place, isStored, details),
      headers: { ...mail.headers, ...own.headers },
      attributes: readAttributes({ ...mail.custom_args, ...own.custom_args }, categories, details),
      tag: categories[0],
      sendAt: seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString(),
    };
    refuse(`${place}to`, 'is required', person.to.length === 0);
    // Decoding overwrites the bytes of a content.
    const copy = ({ content, ...file }: (typeof files)[number]) => ({
      ...file,
      content: isShared && content instanceof Buffer ? Buffer.from(content) : content,
    });
    return () => toMessage({ ...person, attachments: files.map(copy) }, []);
  });
  if (details.length > 0) throw invalidMembers(details);
  return { isSandboxed: settings.has('sandbox_mode'), messages };
}

function toMailboxes(
  given: readonly Static<typeof Address>[] | undefined,
  field: string,
  details: FaultDetail[],
): Mailbox[] {
  return (given ?? []).map(({ email, name }, index) => {
    const place = /s?_list$|\.(to|cc|bcc)$/.test(field) ? `${field}[${index}]` : field;
    const parsed = parseEmailAddress(email.trim());
    if (!parsed.ok) details.push({ field: `${place}.email`, reason: parsed.reason });
    const shown = name?.trim() ?? '';
    if (hasControlCharacter(shown))
      details.push({ field: `${place}.name`, reason: 'must not contain control characters' });
    const address = (parsed.ok ? parsed.address : email) as Mailbox['address'];
    return shown === '' ? { address } : { address, name: shown };
  });
}

function readContent(
  content: readonly Members[],
  details: FaultDetail[],
): { readonly html?: string; readonly text?: string } {
  const parts: { html?: string; text?: string } = {};
  content.forEach((given, index) => {
    const place = `content[${index}].`;
    const { type = '', value } = contentTable.read(given, place);
    const name = type === 'text/html' ? 'html' : type === 'text/plain' ? 'text' : undefined;
    if (name === undefined)
      details.push({ field: `${place}type`, reason: 'must be text/plain or text/html' });
    else if (parts[name] !== undefined)
      details.push({ field: `${place}type`, reason: 'is given twice' });
    else if (value === undefined) details.push({ field: `${place}value`, reason: 'is required' });
    else parts[name] = value;
  });
  return parts;
}

function readFiles(
  list: readonly Members[],
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  const files = fileTable.readEach(list, 'attachments', details, 'filename', 'content') ?? [];
  return files.map(({ filename: name, type, content, disposition, content_id: id }, index) => {
    const place = `attachments[${index}].`;
    const isInline = disposition === 'inline';
    if (!isInline && (disposition ?? 'attachment') !== 'attachment')
      details.push({ field: `${place}disposition`, reason: 'must be attachment or inline' });
    if (isInline && id === undefined)
      details.push({ field: `${place}content_id`, reason: 'is required' });
    return toFile(contents, name, content, type, isInline ? id : undefined);
  });
}

/** The names of the settings that are on. */
function readSettings(
  table: MemberTable<Readonly<Record<string, BodyMember>>>,
  given: Members,
  place: string,
  details: FaultDetail[],
): ReadonlySet<string> {
  const values: Members = table.read(given, place);
  const on = Object.keys(values).filter(
    (name) => (values[name] as Static<typeof Switch>).enable === true,
  );
  for (const name of on) {
    const note = table.members[name]?.note ?? '';
    if (note.startsWith(cannotBeOn)) details.push({ field: place + name, reason: note });
  }
  return new Set(on);
}

function readTracking(given: Members, details: FaultDetail[]) {
  const place = 'tracking_settings.';
  const on = readSettings(trackingTable, given, place, details);
  const { click_tracking: clicks, open_tracking: opens } = trackingTable.read(given, place);
  if ((clicks?.enable_text ?? false) !== false)
    details.push({ field: `${place}click_tracking.enable_text`, reason: 'isn’t supported' });
  if ((opens?.substitution_tag ?? '') !== '')
    details.push({ field: `${place}open_tracking.substitution_tag`, reason: 'isn’t supported' });
  return { trackOpens: on.has('open_tracking'), trackClicks: on.has('click_tracking') };
}

/** `name` of `{{name}}`, the wrappers that the SDK adds by default. */
function unwrap(text: string): string | undefined {
  const name = text.slice(2, -2).trim();
  const isWrapped = text.startsWith('{{') && text.endsWith('}}');
  return isWrapped && name !== '' && !/[{}]/.test(name) ? name : undefined;
}

/** The values of a personalization; undefined if the content is literal. */
function readValues(
  {
    substitutions,
    dynamic_template_data: data,
  }: Pick<ReturnType<typeof personTable.read>, 'substitutions' | 'dynamic_template_data'>,
  place: string,
  hasTemplate: boolean,
  details: FaultDetail[],
): Members | undefined {
  if (data !== undefined && !hasTemplate)
    details.push({ field: `${place}dynamic_template_data`, reason: 'needs a template_id' });
  if (substitutions === undefined && data === undefined) return undefined;
  const values = new Map<string, unknown>();
  for (const [name, text] of Object.entries(substitutions ?? {})) {
    const inside = unwrap(name);
    const reason = 'must be a name in double braces, such as {{name}}';
    if (inside === undefined) details.push({ field: `${place}substitutions.${name}`, reason });
    else values.set(inside, text);
  }
  return { ...Object.fromEntries(values), ...toFieldValues(data ?? {}) };
}

function readAttributes(
  given: Readonly<Record<string, string>>,
  categories: readonly string[],
  details: FaultDetail[],
): Readonly<Record<string, string>> {
  if (categories.length < 2) return given;
  if (Object.hasOwn(given, 'categories'))
    details.push({
      field: 'custom_args.categories',
      reason: 'can’t be used with several categories, which have this attribute',
    });
  return { ...given, categories: categories.join(', ') };
}
