import { type Static, Type } from 'typebox';
import { parseEmailAddress } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { hasControlCharacter } from '../../sending/submission/custom-headers.ts';
import { limitDetails } from '../../sending/submission/describe-body-problems.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import type { Mailbox } from '../../sending/submission/send-content.ts';
import { type BodyMember, MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { type ProviderMessage, typeOfFile } from '../provider/send-messages.ts';

const maxPersonalizations = 1_000;
/** Content and attachments of a request, counted for each of its personalizations: each becomes a message of its own. */
const maxTotalBytes = 64 * 1_024 * 1_024;

type Members = Readonly<Record<string, unknown>>;

const Anything = Type.Unsafe<Members>({ type: 'object' });
const Text = Type.String();
const Texts = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});
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

const headersNote =
  'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers';
const argumentsNote = 'become attributes: up to 20, with names of 40 and values of 200 characters';
const timeNote = 'can be up to 365 days ahead';
/** A setting with this note is refused if it's on. */
const cannotBeOn = 'can’t be enabled';

const personalizationMembers = new MemberTable({
  to: mapped(Addresses, 'has one address if there is a `template_id`'),
  from: supported(Address),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  subject: mapped(Text, 'replaces the template’s subject'),
  headers: mapped(Texts, headersNote),
  substitutions: mapped(
    Texts,
    'are values of `{{name}}`, the SDK’s default, and escaped in HTML; other wrappers are refused',
  ),
  dynamic_template_data: mapped(
    Anything,
    'become values of the template’s fields: numbers and `true` as text, `false` and null as empty text',
  ),
  custom_args: mapped(Texts, argumentsNote),
  send_at: mapped(Seconds, timeNote),
});

const trackingMembers = new MemberTable({
  click_tracking: mapped(Switch, 'tracks links of the HTML; `enable_text` is refused'),
  open_tracking: mapped(Switch, 'adds its image at the end; `substitution_tag` is refused'),
  subscription_tracking: mapped(
    Switch,
    `${cannotBeOn}; the service writes its own unsubscribe headers`,
  ),
  ganalytics: mapped(Switch, `${cannotBeOn}; add the parameters to your links`),
});

const settingMembers = new MemberTable({
  sandbox_mode: supported(Switch),
  bypass_unsubscribe_management: mapped(
    Switch,
    'makes the email transactional, which needs the account’s add-on',
  ),
  bypass_list_management: mapped(Switch, `${cannotBeOn}; remove the suppression instead`),
  bypass_spam_management: mapped(Switch, `${cannotBeOn}; remove the suppression instead`),
  bypass_bounce_management: mapped(Switch, `${cannotBeOn}; remove the suppression instead`),
  footer: mapped(Switch, `${cannotBeOn}; write it into the content`),
  spam_check: mapped(Switch, `${cannotBeOn}; Signalpost doesn’t score mail`),
  bcc: mapped(Switch, `${cannotBeOn}; use the bcc of a personalization`),
});

const contentMembers = new MemberTable({
  type: mapped(Text, 'is `text/plain` or `text/html`, each once'),
  value: supported(Text),
});

const attachmentMembers = new MemberTable({
  content: supported(Text),
  filename: supported(Text),
  type: mapped(Text, 'is derived from the extension of `filename` if it is absent'),
  disposition: mapped(Text, 'is `attachment`, the default, or `inline`'),
  content_id: mapped(Text, 'applies to `inline` files, which need one'),
});

const mailMembers = new MemberTable({
  personalizations: supported(Type.Array(Anything, { maxItems: maxPersonalizations })),
  from: supported(Address),
  reply_to: mapped(Address, 'needs a verified sender'),
  reply_to_list: mapped(Addresses, 'needs verified senders; one with a `template_id`'),
  subject: mapped(Text, 'replaces the template’s subject'),
  content: supported(Type.Array(Anything, { maxItems: 10 })),
  attachments: supported(Type.Array(Anything, { maxItems: 100 })),
  template_id: mapped(
    Type.String({ maxLength: 200 }),
    'is the ID of a published template of the account; `signalpost import` keeps SendGrid’s ID',
  ),
  headers: mapped(Texts, headersNote),
  categories: mapped(
    Type.Array(Text, { maxItems: 10 }),
    'become the tag: the first, up to 48 characters; several also become the attribute `categories`',
  ),
  custom_args: mapped(Texts, argumentsNote),
  send_at: mapped(Seconds, timeNote),
  batch_id: mapped(Text, 'becomes the external ID; it is one from POST `/v3/mail/batch`'),
  tracking_settings: supported(Anything),
  mail_settings: supported(Anything),
  sections: refused('isn’t supported; use a template, or put the text into the content'),
  asm: refused('isn’t supported, because Signalpost has no unsubscribe groups'),
  ip_pool_name: refused('isn’t supported, because Signalpost has no IP pools'),
});

export const mailSendMembers = {
  '': mailMembers,
  'personalizations[]': personalizationMembers,
  'content[]': contentMembers,
  'attachments[]': attachmentMembers,
  tracking_settings: trackingMembers,
  mail_settings: settingMembers,
};

/** SendGrid's members by those of the send body. @param index of the personalization */
export function mailNames(index: number | string): Readonly<Record<string, string>> {
  const place = `personalizations[${index}].`;
  return {
    'envelope.toAddress': `${place}to`,
    'envelope.toDisplayName': `${place}to`,
    'envelope.ccAddressList': `${place}cc`,
    'envelope.bccAddressList': `${place}bcc`,
    'envelope.fromAddress': 'from',
    'envelope.fromDisplayName': 'from',
    'envelope.replyToAddress': 'reply_to',
    envelope: `personalizations[${index}]`,
    content: 'content',
    'content.subjectLine': 'subject',
    'content.html': 'content',
    'content.text': 'content',
    'content.headers': 'headers',
    'content.attachments': 'attachments',
    'content.personalizationDataMap': `${place}dynamic_template_data`,
    'metadata.attributes': 'custom_args',
    'metadata.externalId': 'batch_id',
    'metadata.tagList': 'categories',
    'metadata.transactional': 'mail_settings.bypass_unsubscribe_management',
    'actions.sendAt': 'send_at',
    templateId: 'template_id',
    idempotencyKey: 'Idempotency-Key',
  };
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
  const mail = mailMembers.read(value);
  const details: FaultDetail[] = [];
  const { personalizations = [], batch_id: batchId, template_id: templateId } = mail;
  const parts = readContent(mail.content ?? [], details);
  const files = readFiles(mail.attachments ?? [], contents, details);
  const { trackOpens, trackClicks } = readTracking(mail.tracking_settings ?? {}, details);
  const settings = readSettings(
    settingMembers,
    mail.mail_settings ?? {},
    'mail_settings.',
    details,
  );
  const require = (field: string, isGiven: boolean): void => {
    if (!isGiven) details.push({ field, reason: 'is required' });
  };
  require('personalizations', personalizations.length > 0);
  if (batchId !== undefined && !isBatch(batchId))
    details.push({ field: 'batch_id', reason: 'isn’t one from POST /v3/mail/batch' });
  const replyTo = [
    ...toMailboxes(mail.reply_to && [mail.reply_to], 'reply_to', details),
    ...toMailboxes(mail.reply_to_list, 'reply_to_list', details),
  ];
  if (mail.reply_to !== undefined && mail.reply_to_list !== undefined)
    details.push({ field: 'reply_to_list', reason: 'can’t be used with reply_to' });
  if (templateId !== undefined) {
    if (mail.content !== undefined)
      details.push({ field: 'content', reason: 'can’t be used with template_id' });
    if (replyTo.length > 1)
      details.push({
        field: 'reply_to_list',
        reason: 'can’t have several addresses with template_id',
      });
  }
  const bytes = [...Object.values(parts), ...files.map(({ content }) => content)].reduce(
    (sum, part) => sum + (part?.length ?? 0),
    0,
  );
  if (personalizations.length > 1 && bytes * personalizations.length > maxTotalBytes)
    details.push({
      field: 'personalizations',
      reason: 'need more than 64 MiB with content and attachments; send several requests',
    });
  const categories = mail.categories?.filter((category) => category !== '') ?? [];
  const messages = personalizations.map((given, index) => {
    const place = `personalizations[${index}].`;
    const own = personalizationMembers.read(given, place);
    const from = own.from ?? mail.from;
    const [sender] = toMailboxes(from && [from], 'from', details);
    const to = toMailboxes(own.to, `${place}to`, details);
    const cc = toMailboxes(own.cc, `${place}cc`, details);
    const bcc = toMailboxes(own.bcc, `${place}bcc`, details);
    const subject = own.subject ?? mail.subject;
    require(`${place}to`, to.length > 0);
    require('from', templateId !== undefined || from !== undefined);
    require('subject', templateId !== undefined || subject !== undefined);
    const values = readValues(own, place, templateId !== undefined, details);
    const attributes = readAttributes(mail.custom_args, own.custom_args, categories, details);
    const seconds = own.send_at ?? mail.send_at;
    const sendAt = seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString();
    const headers = { ...mail.headers, ...own.headers };
    const transactional = settings.has('bypass_unsubscribe_management') || undefined;
    if (templateId !== undefined && to.length > 1)
      details.push({
        field: `${place}to`,
        reason: 'can’t have several addresses with template_id; use a personalization for each',
      });
    const isShared = personalizations.length > 1;
    return (): ProviderMessage =>
      templateId === undefined
        ? {
            content: {
              from: sender as Mailbox,
              to,
              cc,
              bcc,
              replyTo,
              subject: subject ?? '',
              ...parts,
              values,
              headers,
              attachments: files.map((file) => ({
                ...file,
                content: copyOf(file.content, isShared),
              })),
              attributes,
              tag: categories[0],
              externalId: batchId,
              sendAt,
              trackOpens,
              trackClicks,
              transactional,
            },
          }
        : {
            templateId,
            contents: new Map(
              files.map(({ placeholder, content }) => [placeholder, copyOf(content, isShared)]),
            ),
            body: {
              envelope: withoutUndefined({
                toAddress: to[0]?.address,
                toDisplayName: to[0]?.name,
                ccAddressList: cc.map(({ address }) => address),
                bccAddressList: bcc.map(({ address }) => address),
                fromAddress: sender?.address,
                fromDisplayName: sender?.name,
                replyToAddress: replyTo[0]?.address,
              }),
              content: withoutUndefined({
                subjectLine: subject,
                personalizationDataMap: values ?? {},
                headers,
                attachments: files.map(({ placeholder, content: _, ...file }) => ({
                  ...file,
                  content: placeholder,
                })),
              }),
              metadata: withoutUndefined({
                transactional,
                externalId: batchId,
                tagList: categories.slice(0, 1),
                attributes,
              }),
              actions: withoutUndefined({ trackOpens, trackClicks, sendAt }),
            },
          };
  });
  if (details.length > 0) throw invalid(details);
  return { isSandboxed: settings.has('sandbox_mode'), messages };
}

/** Decoding overwrites the bytes of a content. */
function copyOf(content: FileContent, isShared: boolean): FileContent {
  return isShared && content instanceof Buffer ? Buffer.from(content) : content;
}

type FileContent = string | Buffer;

function invalid(details: readonly FaultDetail[]): Fault {
  const seen = new Map(details.map((detail) => [`${detail.field} ${detail.reason}`, detail]));
  return new Fault('VALIDATION_FAILED', { details: limitDetails([...seen.values()]) });
}

function withoutUndefined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
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
    const { type = '', value } = contentMembers.read(given, place);
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
  attachments: readonly Members[],
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  return attachments.map((attachment, index) => {
    const place = `attachments[${index}].`;
    const file = attachmentMembers.read(attachment, place);
    const { filename = '', content = '', disposition = 'attachment', content_id: id } = file;
    const isInline = disposition === 'inline';
    for (const name of ['filename', 'content'] as const)
      if (file[name] === undefined) details.push({ field: place + name, reason: 'is required' });
    if (!isInline && disposition !== 'attachment')
      details.push({ field: `${place}disposition`, reason: 'must be attachment or inline' });
    if (isInline && id === undefined)
      details.push({ field: `${place}content_id`, reason: 'is required' });
    return {
      filename,
      contentType: file.type ?? typeOfFile(filename),
      ...(isInline && id !== undefined && { contentId: id }),
      content: (contents?.get(content) ?? content) as FileContent,
      placeholder: content,
    };
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
  const on = readSettings(trackingMembers, given, place, details);
  const { click_tracking: clicks, open_tracking: opens } = trackingMembers.read(given, place);
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

/** Lists and objects of templates are less deep. */
const maxDepth = 8;

/** The values of a personalization; undefined if the content is literal. */
function readValues(
  {
    substitutions,
    dynamic_template_data: data,
  }: {
    readonly substitutions?: Readonly<Record<string, string>>;
    readonly dynamic_template_data?: Members;
  },
  place: string,
  hasTemplate: boolean,
  details: FaultDetail[],
): Readonly<Record<string, string>> | undefined {
  if (data !== undefined && !hasTemplate)
    details.push({ field: `${place}dynamic_template_data`, reason: 'needs a template_id' });
  if (substitutions === undefined && data === undefined) return undefined;
  const values = new Map<string, unknown>();
  for (const [name, text] of Object.entries(substitutions ?? {})) {
    const inside = unwrap(name);
    if (inside !== undefined) values.set(inside, text);
    else
      details.push({
        field: `${place}substitutions.${name}`,
        reason: 'must be a name in double braces, such as {{name}}',
      });
  }
  const report = (): void => {
    const field = `${place}dynamic_template_data`;
    details.push({ field, reason: 'is nested too deeply' });
  };
  for (const [name, given] of Object.entries(data ?? {}))
    values.set(name, toFieldValue(given, maxDepth, report));
  // The send operation checks what lists and objects have.
  return Object.fromEntries(values) as Readonly<Record<string, string>>;
}

/** Texts as templates take them, where `false` is empty because sections show what isn't. */
function toFieldValue(value: unknown, depth: number, report: () => void): unknown {
  if (typeof value === 'string') return value;
  if (value === null || value === false) return '';
  if (typeof value !== 'object') return String(value);
  if (depth === 0) {
    report();
    return '';
  }
  if (Array.isArray(value)) return value.map((item) => toFieldValue(item, depth - 1, report));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, toFieldValue(inner, depth - 1, report)]),
  );
}

function readAttributes(
  shared: Readonly<Record<string, string>> | undefined,
  own: Readonly<Record<string, string>> | undefined,
  categories: readonly string[],
  details: FaultDetail[],
): Readonly<Record<string, string>> {
  const attributes = new Map(Object.entries({ ...shared, ...own }));
  if (categories.length < 2) return Object.fromEntries(attributes);
  if (attributes.has('categories'))
    details.push({
      field: 'custom_args.categories',
      reason: 'can’t be used with several categories, which have this attribute',
    });
  attributes.set('categories', categories.join(', '));
  return Object.fromEntries(attributes);
}
