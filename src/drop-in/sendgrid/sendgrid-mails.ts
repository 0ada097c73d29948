import { type Static, Type } from 'typebox';
import { parseEmailAddress } from '../../base/values/email-address.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { hasControlCharacter } from '../../sending/submission/custom-headers.ts';
import { namesOf, toFieldValues, toMessage } from '../provider/mail.ts';
import { notes, schemas, shape, type Texts, tablesWith } from '../provider/members.ts';
import { Place } from '../provider/place.ts';
import type { ProviderJson } from '../provider/sending.ts';

/** Content and attachments of a request, counted for each of its personalizations: each becomes a message of its own. */
const maxTotalBytes = 64 * mebibyte;

const Name = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1_000 });
const personMembers = { email: schemas.address, name: Type.Optional(Name) };
const Person = Type.Object(personMembers, { additionalProperties: false });
type SwitchMember = 'enable' | 'enable_text' | 'substitution_tag';
const Switch = Type.Unsafe<Partial<Readonly<Record<SwitchMember, unknown>>>>({
  type: 'object',
  properties: { enable: { type: ['boolean', 'null'] } },
});
function readPerson({ email, name }: Static<typeof Person>, place: Place): HeaderMailbox {
  const parsed = parseEmailAddress(email.trim());
  if (!parsed.ok) place.refuse(parsed.reason, '.email');
  const displayName = name?.trim() || undefined;
  const isUnsafe = hasControlCharacter(displayName ?? '');
  place.refuseIf(isUnsafe, 'must not contain control characters', '.name');
  return { address: (parsed.ok ? parsed.address : email) as HeaderMailbox['address'], displayName };
}

/** On, without its other option. */
function switchWithout(option: SwitchMember, unset: unknown) {
  return shape(Switch, ({ enable, [option]: own }, place) => {
    place.refuseIf((own ?? unset) !== unset, 'isn’t supported', `.${option}`);
    return enable === true;
  });
}

/** A setting with this note is refused if it's on. */
const cannotBeOn = 'can’t be enabled';
const noBypass = `off: ${cannotBeOn}; remove the suppression instead` as const;
const sendAt = 'seconds as sendAt: can be up to 365 days ahead';

const table = tablesWith({
  person: shape(Person, readPerson),
  people: shape(Type.Array(Person, { maxItems: 150 }), (list, place) =>
    list.map((one, index) => readPerson(one, place.at(`[${index}]`))),
  ),
  categories: shape(Type.Array(schemas.text, { maxItems: 10 })),
  /** Since the epoch, up to the year 9999. */
  seconds: shape(Type.Integer({ minimum: 0, maximum: 253_402_300_799 }), (seconds) =>
    new Date(seconds * 1_000).toISOString(),
  ),
  on: shape(Switch, ({ enable }) => enable === true),
  off: shape(Switch, ({ enable }, place, note) => place.refuseIf(enable === true, note)),
  clicks: switchWithout('enable_text', false),
  opens: switchWithout('substitution_tag', ''),
  /** The values of `{{name}}`, the wrappers that the SDK adds by default. */
  wrapped: shape(schemas.texts, (given, place): Texts => {
    const pairs = Object.entries(given).map(([wrapped, text]) => {
      const name = wrapped.slice(2, -2).trim();
      const isWrapped = wrapped.startsWith('{{') && wrapped.endsWith('}}') && name !== '';
      const noName = 'must be a name in double braces, such as {{name}}';
      place.refuseIf(!isWrapped || /[{}]/.test(name), noName, `.${wrapped}`);
      return [name, text];
    });
    return Object.fromEntries(pairs);
  }),
});

const personTable = table({
  to: 'people: has one address if there is a `template_id`',
  from: 'person',
  cc: 'people',
  bcc: 'people',
  subject: 'text: replaces the template’s subject',
  headers: `texts: ${notes.headers}`,
  substitutions:
    'wrapped: are values of `{{name}}`, the SDK’s default, and escaped in HTML; other wrappers are refused',
  dynamic_template_data:
    'object as data: become values of the template’s fields: numbers and `true` as text, `false` and null as empty text',
  custom_args: `texts as attributes: ${notes.attributes}`,
  send_at: sendAt,
});
const trackingTable = table({
  click_tracking: 'clicks as trackClicks: tracks links of the HTML; `enable_text` is refused',
  open_tracking: 'opens as trackOpens: adds its image at the end; `substitution_tag` is refused',
  subscription_tracking: `off: ${cannotBeOn}; the service writes its own unsubscribe headers`,
  ganalytics: `off: ${cannotBeOn}; add the parameters to your links`,
});
const settingTable = table({
  sandbox_mode: 'on as isSandboxed',
  bypass_unsubscribe_management:
    'on as transactional: makes the email transactional, which needs the account’s add-on',
  bypass_list_management: noBypass,
  bypass_spam_management: noBypass,
  bypass_bounce_management: noBypass,
  footer: `off: ${cannotBeOn}; write it into the content`,
  spam_check: `off: ${cannotBeOn}; Signalpost doesn’t score mail`,
  bcc: `off: ${cannotBeOn}; use the bcc of a personalization`,
});
const contentTable = table({
  type: 'text: is `text/plain` or `text/html`, each once',
  value: 'text',
});
const fileTable = table({
  content: 'text',
  filename: 'text',
  type: 'text as contentType: is derived from the extension of `filename` if it is absent',
  disposition: 'text: is `attachment`, the default, or `inline`',
  content_id: 'text: applies to `inline` files, which need one',
});

const content = contentTable.asList({ maxItems: 10, required: ['value'] }, (list, place) => {
  const parts: { html?: string; text?: string } = {};
  for (const [index, { type, value }] of list.entries()) {
    const name = type === 'text/html' ? 'html' : type === 'text/plain' ? 'text' : undefined;
    const at = place.at(`[${index}].type`);
    if (name === undefined) at.refuse('must be text/plain or text/html');
    else if (parts[name] !== undefined) at.refuse('is given twice');
    else parts[name] = value;
  }
  return parts;
});
const files = fileTable.asList({ required: ['filename', 'content'] }, (list, place) =>
  list.map(({ disposition = 'attachment', contentId, ...file }, index) => {
    const isInline = disposition === 'inline';
    const isKnown = isInline || disposition === 'attachment';
    place.refuseIf(!isKnown, 'must be attachment or inline', `[${index}].disposition`);
    place.refuseIf(isInline && contentId === undefined, 'is required', `[${index}].content_id`);
    return isInline ? { ...file, contentId } : file;
  }),
);

const mailTable = table({
  personalizations: shape(Type.Array(schemas.object, { maxItems: 1_000 })),
  from: 'person',
  reply_to: 'person: needs a verified sender',
  reply_to_list: 'people as others: needs verified senders; one with a `template_id`',
  subject: 'text: replaces the template’s subject',
  content,
  attachments: files,
  template_id:
    'short: is the ID of a published template of the account; `signalpost import` keeps SendGrid’s ID',
  headers: `texts: ${notes.headers}`,
  categories:
    'categories: become the tag: the first, up to 48 characters; several also become the attribute `categories`',
  custom_args: `texts as attributes: ${notes.attributes}`,
  send_at: sendAt,
  batch_id: 'text as externalId: becomes the external ID; it is one from POST `/v3/mail/batch`',
  tracking_settings: trackingTable.asObject(),
  mail_settings: settingTable.asObject(),
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
export function mailNames(index: number): Texts {
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

/**
 * Translates the body of mail/send.
 * @param isBatch whether a batch ID is one of the account
 * @returns whether to check everything and send nothing, and what makes the message of each personalization, which can be sent once
 * @throws Fault VALIDATION_FAILED with SendGrid's members
 */
export function readMailSend(
  { value, contents = new Map() }: ProviderJson,
  isBatch: (id: string) => boolean,
) {
  const problems = new Place();
  const { details } = problems;
  const { personalizations = [], ...mail } = mailTable.read(value, '', details, 'personalizations');
  const { content, categories: given = [], replyTo, others = [], ...shared } = mail;
  const { isSandboxed = false, transactional } = mail.mailSettings ?? {};
  const { attachments = [], externalId, templateId } = shared;
  const categories = given.filter((category) => category !== '');
  const isShared = personalizations.length > 1;
  const bytes = [content?.html, content?.text, ...attachments.map((file) => file.content ?? '')]
    .map((part = '') => (contents.get(part) ?? part).length)
    .reduce((sum, length) => sum + length, 0);
  const tooLarge = 'need more than 64 MiB with content and attachments; send several requests';
  const isTooLarge = isShared && bytes * personalizations.length > maxTotalBytes;
  problems.refuseIf(isTooLarge, tooLarge, 'personalizations');
  const isForeign = externalId !== undefined && !isBatch(externalId);
  problems.refuseIf(isForeign, 'isn’t one from POST /v3/mail/batch', 'batch_id');
  problems.refuseIf(replyTo && mail.others, 'can’t be used with reply_to', 'reply_to_list');
  const isStored = templateId !== undefined;
  problems.refuseIf(isStored && content, 'can’t be used with template_id', 'content');
  const messages = personalizations.map((person, index) => {
    const place = `personalizations[${index}].`;
    const { substitutions, data, ...own } = personTable.read(person, place, details, 'to');
    const attributes = { ...mail.attributes, ...own.attributes };
    const isTwice = categories.length > 1 && Object.hasOwn(attributes, 'categories');
    const noSecond = 'can’t be used with several categories, which have this attribute';
    problems.refuseIf(isTwice, noSecond, 'custom_args.categories');
    problems.refuseIf(data && !isStored, 'needs a template_id', `${place}dynamic_template_data`);
    const email = {
      ...shared,
      ...content,
      ...mail.trackingSettings,
      transactional,
      replyTo: replyTo === undefined ? others : [replyTo, ...others],
      tag: categories[0],
      ...own,
      headers: { ...mail.headers, ...own.headers },
      attributes:
        categories.length < 2 ? attributes : { ...attributes, categories: categories.join(', ') },
      values: (substitutions || data) && { ...substitutions, ...toFieldValues(data ?? {}) },
    };
    // Decoding overwrites the bytes of a content.
    const copy = () => new Map([...contents].map(([name, one]) => [name, Buffer.from(one)]));
    return () => toMessage(email, [], isShared ? copy() : contents);
  });
  problems.end();
  return { isSandboxed, messages };
}
