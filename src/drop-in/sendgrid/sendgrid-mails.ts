import { type Static, Type } from 'typebox';
import { parseEmailAddress } from '../../base/values/email-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { hasControlCharacter } from '../../sending/submission/custom-headers.ts';
import { namesOf, type ProviderMessage, toFieldValues, toMessage } from '../provider/mail.ts';
import {
  attributesNote,
  headersNote,
  invalidMembers,
  MemberTable,
  plain,
} from '../provider/members.ts';
import { Place } from '../provider/place.ts';
import type { ProviderJson } from '../provider/sending.ts';

/** Content and attachments of a request, counted for each of its personalizations: each becomes a message of its own. */
const maxTotalBytes = 64 * mebibyte;

const Person = Type.Object(
  {
    email: Type.String({ maxLength: 2_000 }),
    name: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1_000 })),
  },
  { additionalProperties: false },
);
interface Switch {
  readonly enable?: boolean | null;
  readonly enable_text?: unknown;
  readonly substitution_tag?: unknown;
}
const Switch = Type.Unsafe<Switch>({
  type: 'object',
  properties: { enable: { type: ['boolean', 'null'] } },
});
const Anything = Type.Unsafe<object>({ type: 'object' });

function readPerson({ email, name }: Static<typeof Person>, place: Place): HeaderMailbox {
  const parsed = parseEmailAddress(email.trim());
  if (!parsed.ok) place.refuse(parsed.reason, '.email');
  const displayName = name?.trim() || undefined;
  if (hasControlCharacter(displayName ?? ''))
    place.refuse('must not contain control characters', '.name');
  return { address: (parsed.ok ? parsed.address : email) as HeaderMailbox['address'], displayName };
}

/** A setting with this note is refused if it's on. */
const cannotBeOn = 'can’t be enabled';
const noBypass = `off: ${cannotBeOn}; remove the suppression instead` as const;
const sendAt = 'seconds as sendAt: can be up to 365 days ahead';

const shapes = {
  person: { schema: Person, read: readPerson },
  people: {
    schema: Type.Array(Person, { maxItems: 150 }),
    read: (list: readonly Static<typeof Person>[], place: Place) =>
      list.map((one, index) => readPerson(one, place.at(`[${index}]`))),
  },
  /** Since the epoch, up to the year 9999. */
  seconds: {
    schema: Type.Integer({ minimum: 0, maximum: 253_402_300_799 }),
    read: (seconds: number) => new Date(seconds * 1_000).toISOString(),
  },
  on: { schema: Switch, read: ({ enable }: Switch) => enable === true },
  off: {
    schema: Switch,
    read({ enable }: Switch, place: Place, note: string): undefined {
      if (enable === true) place.refuse(note);
    },
  },
  /** On, without its other option. */
  clicks: {
    schema: Switch,
    read({ enable, enable_text: own }: Switch, place: Place): boolean {
      if ((own ?? false) !== false) place.refuse('isn’t supported', '.enable_text');
      return enable === true;
    },
  },
  opens: {
    schema: Switch,
    read({ enable, substitution_tag: own }: Switch, place: Place): boolean {
      if ((own ?? '') !== '') place.refuse('isn’t supported', '.substitution_tag');
      return enable === true;
    },
  },
};

const personTable = new MemberTable(
  {
    to: 'people: has one address if there is a `template_id`',
    from: 'person',
    cc: 'people',
    bcc: 'people',
    subject: 'text: replaces the template’s subject',
    headers: `texts: ${headersNote}`,
    substitutions:
      'texts: are values of `{{name}}`, the SDK’s default, and escaped in HTML; other wrappers are refused',
    dynamic_template_data:
      'object as data: become values of the template’s fields: numbers and `true` as text, `false` and null as empty text',
    custom_args: `texts as attributes: ${attributesNote}`,
    send_at: sendAt,
  },
  shapes,
);
const trackingTable = new MemberTable(
  {
    click_tracking: 'clicks as trackClicks: tracks links of the HTML; `enable_text` is refused',
    open_tracking: 'opens as trackOpens: adds its image at the end; `substitution_tag` is refused',
    subscription_tracking: `off: ${cannotBeOn}; the service writes its own unsubscribe headers`,
    ganalytics: `off: ${cannotBeOn}; add the parameters to your links`,
  },
  shapes,
);
const settingTable = new MemberTable(
  {
    sandbox_mode: 'on as isSandboxed',
    bypass_unsubscribe_management:
      'on as transactional: makes the email transactional, which needs the account’s add-on',
    bypass_list_management: noBypass,
    bypass_spam_management: noBypass,
    bypass_bounce_management: noBypass,
    footer: `off: ${cannotBeOn}; write it into the content`,
    spam_check: `off: ${cannotBeOn}; Signalpost doesn’t score mail`,
    bcc: `off: ${cannotBeOn}; use the bcc of a personalization`,
  },
  shapes,
);
const contentTable = new MemberTable({
  type: 'text: is `text/plain` or `text/html`, each once',
  value: 'text',
});
const fileTable = new MemberTable({
  content: 'text',
  filename: 'text',
  type: 'text as contentType: is derived from the extension of `filename` if it is absent',
  disposition: 'text: is `attachment`, the default, or `inline`',
  content_id: 'text: applies to `inline` files, which need one',
});
const files = fileTable.asList(100, 'filename', 'content');

const mailTable = new MemberTable(
  {
    personalizations: 'personalizations',
    from: 'person',
    reply_to: 'person: needs a verified sender',
    reply_to_list: 'people as others: needs verified senders; one with a `template_id`',
    subject: 'text: replaces the template’s subject',
    content: 'content',
    attachments: 'files',
    template_id:
      'short: is the ID of a published template of the account; `signalpost import` keeps SendGrid’s ID',
    headers: `texts: ${headersNote}`,
    categories:
      'categories: become the tag: the first, up to 48 characters; several also become the attribute `categories`',
    custom_args: `texts as attributes: ${attributesNote}`,
    send_at: sendAt,
    batch_id: 'text as externalId: becomes the external ID; it is one from POST `/v3/mail/batch`',
    tracking_settings: 'tracking as tracking',
    mail_settings: 'settings as settings',
    sections: 'refused: isn’t supported; use a template, or put the text into the content',
    asm: 'refused: isn’t supported, because Signalpost has no unsubscribe groups',
    ip_pool_name: 'refused: isn’t supported, because Signalpost has no IP pools',
  },
  {
    ...shapes,
    personalizations: plain(Type.Array(Anything, { maxItems: 1_000 })),
    content: { schema: Type.Array(Anything, { maxItems: 10 }), read: readContent },
    files: { schema: files.schema, read: readFiles },
    categories: plain(Type.Array(Type.String(), { maxItems: 10 })),
    tracking: trackingTable.asObject(),
    settings: settingTable.asObject(),
  },
);

function readContent(list: readonly unknown[], { field, details }: Place) {
  const parts: { html?: string; text?: string } = {};
  for (const [index, given] of list.entries()) {
    const place = new Place(`${field}[${index}].`, details);
    const { type, value } = contentTable.read(given, place.field, details, 'value');
    const name = type === 'text/html' ? 'html' : type === 'text/plain' ? 'text' : undefined;
    if (name === undefined) place.refuse('must be text/plain or text/html', 'type');
    else if (parts[name] !== undefined) place.refuse('is given twice', 'type');
    else parts[name] = value;
  }
  return parts;
}

function readFiles(list: readonly unknown[], place: Place) {
  return files.read(list, place).map(({ disposition, contentId, ...file }, index) => {
    const isInline = disposition === 'inline';
    if (!isInline && (disposition ?? 'attachment') !== 'attachment')
      place.refuse('must be attachment or inline', `[${index}].disposition`);
    if (isInline && contentId === undefined) place.refuse('is required', `[${index}].content_id`);
    return isInline ? { ...file, contentId } : file;
  });
}

export const mailSendMembers = {
  '': mailTable,
  'personalizations[]': personTable,
  'content[]': contentTable,
  'attachments[]': fileTable,
  tracking_settings: trackingTable,
  mail_settings: settingTable,
};

/** SendGrid's members by those of the send body. @param index of the personalization */
export function mailNames(index: number): Readonly<Record<string, string>> {
  const place = `personalizations[${index}]`;
  return namesOf({
    ...mailTable.names,
    to: `${place}.to`,
    cc: `${place}.cc`,
    bcc: `${place}.bcc`,
    envelope: place,
    html: 'content',
    text: 'content',
    values: `${place}.dynamic_template_data`,
    tag: 'categories',
    transactional: 'mail_settings.bypass_unsubscribe_management',
    idempotencyKey: 'Idempotency-Key',
  });
}

/** What a request asks for. */
interface SendGridMail {
  /** Check everything, and send nothing. */
  readonly isSandboxed: boolean;
  /** One for each personalization. Each call makes a message that can be sent once. */
  readonly messages: readonly (() => ProviderMessage)[];
}

/**
 * Translates the body of mail/send.
 * @param isBatch whether a batch ID is one of the account
 * @throws Fault VALIDATION_FAILED with SendGrid's members
 */
export function readMailSend(
  { value, contents = new Map() }: ProviderJson,
  isBatch: (id: string) => boolean,
): SendGridMail {
  const details: FaultDetail[] = [];
  const refuse = (field: string, reason: string, isWrong: boolean): void => {
    if (isWrong) details.push({ field, reason });
  };
  const { personalizations = [], ...mail } = mailTable.read(value, '', details, 'personalizations');
  const { content, categories: given = [], replyTo, others = [], tracking, ...shared } = mail;
  const { isSandboxed = false, transactional } = mail.settings ?? {};
  const { attachments = [], externalId, templateId } = shared;
  const categories = given.filter((category) => category !== '');
  const isShared = personalizations.length > 1;
  const bytes = [content?.html, content?.text, ...attachments.map((file) => file.content ?? '')]
    .map((part = '') => (contents.get(part) ?? part).length)
    .reduce((sum, length) => sum + length, 0);
  refuse(
    'personalizations',
    'need more than 64 MiB with content and attachments; send several requests',
    isShared && bytes * personalizations.length > maxTotalBytes,
  );
  const isForeign = externalId !== undefined && !isBatch(externalId);
  refuse('batch_id', 'isn’t one from POST /v3/mail/batch', isForeign);
  const isTwice = replyTo !== undefined && mail.others !== undefined;
  refuse('reply_to_list', 'can’t be used with reply_to', isTwice);
  const isStored = templateId !== undefined;
  refuse('content', 'can’t be used with template_id', isStored && content !== undefined);
  const messages = personalizations.map((person, index) => {
    const place = `personalizations[${index}].`;
    const { substitutions, data, ...own } = personTable.read(person, place, details, 'to');
    const attributes = { ...mail.attributes, ...own.attributes };
    refuse(
      'custom_args.categories',
      'can’t be used with several categories, which have this attribute',
      categories.length > 1 && Object.hasOwn(attributes, 'categories'),
    );
    refuse(`${place}dynamic_template_data`, 'needs a template_id', data !== undefined && !isStored);
    const email = {
      ...shared,
      ...content,
      ...tracking,
      transactional,
      replyTo: replyTo === undefined ? others : [replyTo, ...others],
      tag: categories[0],
      ...own,
      headers: { ...mail.headers, ...own.headers },
      attributes:
        categories.length < 2 ? attributes : { ...attributes, categories: categories.join(', ') },
      values: (substitutions || data) && {
        ...readSubstitutions(substitutions ?? {}, `${place}substitutions.`, details),
        ...toFieldValues(data ?? {}),
      },
    };
    // Decoding overwrites the bytes of a content.
    const copy = () => new Map([...contents].map(([name, one]) => [name, Buffer.from(one)]));
    return () => toMessage(email, [], isShared ? copy() : contents);
  });
  if (details.length > 0) throw invalidMembers(details);
  return { isSandboxed, messages };
}

/** The values of `{{name}}`, the wrappers that the SDK adds by default. */
function readSubstitutions(
  given: Readonly<Record<string, string>>,
  place: string,
  details: FaultDetail[],
): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [wrapped, text] of Object.entries(given)) {
    const name = wrapped.slice(2, -2).trim();
    if (wrapped.startsWith('{{') && wrapped.endsWith('}}') && name !== '' && !/[{}]/.test(name))
      values.set(name, text);
    else
      details.push({
        field: place + wrapped,
        reason: 'must be a name in double braces, such as {{name}}',
      });
  }
  return Object.fromEntries(values);
}
