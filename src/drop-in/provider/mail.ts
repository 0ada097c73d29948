import { detectMimeType } from 'nodemailer/lib/mime-funcs/mime-types';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import type { BodyJson, DecodedBytes } from '../../sending/submission/read-body-json.ts';
import type { ContentMessage } from '../../sending/submission/send-content.ts';
import { invalidMember, invalidMembers } from './members.ts';
import type { Place } from './place.ts';

type Texts = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, unknown>>;

/** An email of a provider's API, under the names that its members have here. */
export interface Mail {
  readonly from?: HeaderMailbox;
  readonly to?: readonly HeaderMailbox[];
  readonly cc?: readonly HeaderMailbox[];
  readonly bcc?: readonly HeaderMailbox[];
  readonly replyTo?: readonly HeaderMailbox[];
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  readonly headers?: Texts;
  readonly attachments?: readonly MailAttachment[];
  readonly attributes?: Texts;
  readonly tag?: string;
  readonly externalId?: string;
  readonly transactional?: boolean;
  readonly sendAt?: string;
  readonly trackOpens?: boolean;
  readonly trackClicks?: boolean;
  /** As providers write it. Undefined: the message isn't made from a stored template. */
  readonly templateId?: string;
  /** Undefined: the content is literal. */
  readonly values?: Values;
}

interface MailAttachment {
  readonly filename?: string;
  /** Undefined: that of its extension. */
  readonly contentType?: string;
  readonly contentId?: string;
  /** Base64, or the placeholder of it; or the file itself. */
  readonly content?: string | DecodedBytes;
}

/** The members of an email by those of the send body, which errors name. */
const sendMembers = {
  to: 'envelope.toAddress envelope.toDisplayName',
  cc: 'envelope.ccAddressList',
  bcc: 'envelope.bccAddressList',
  from: 'envelope.fromAddress envelope.fromDisplayName',
  replyTo: 'envelope.replyToAddress',
  envelope: 'envelope',
  content: 'content',
  subject: 'content.subjectLine',
  html: 'content.html',
  text: 'content.text',
  headers: 'content.headers',
  attachments: 'content.attachments',
  values: 'content.personalizationDataMap',
  attributes: 'metadata.attributes',
  tag: 'metadata.tagList metadata.tagList[0]',
  externalId: 'metadata.externalId',
  transactional: 'metadata.transactional',
  sendAt: 'actions.sendAt',
  trackOpens: 'actions.trackOpens',
  trackClicks: 'actions.trackClicks',
  templateId: 'templateId',
  messages: 'messages',
  idempotencyKey: 'idempotencyKey',
} as const;

/** `To` for `to`. */
export function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** What a provider calls the members of the send body. @param given by the names that they have here @param styled the others */
export function namesOf(
  given: Partial<Readonly<Record<keyof typeof sendMembers, string>>>,
  styled: (name: string) => string = (name) => name,
): Texts {
  const names = Object.entries(sendMembers).flatMap(([name, members]) =>
    members
      .split(' ')
      .map((member) => [member, given[name as keyof typeof given] ?? styled(name)] as const),
  );
  return Object.fromEntries(names);
}

/** A message of a provider's request. */
export interface ProviderMessage extends ContentMessage {
  /** Of a stored template, as the provider writes it. */
  readonly templateId: string | undefined;
}

/**
 * Translates an email to the body of the send operation, which has one address for To and for Reply-To.
 * @param details what is wrong with it already
 * @param contents of its attachments, by their placeholders
 * @throws Fault VALIDATION_FAILED with members of the provider or the send body
 */
export function toMessage(
  mail: Mail,
  details: FaultDetail[],
  contents?: BodyJson['contents'],
): ProviderMessage {
  const { from, to = [], cc = [], bcc = [], replyTo = [], attachments = [], templateId } = mail;
  const { subject, html, text, values, tag, trackOpens = false, trackClicks = false } = mail;
  const isStored = templateId !== undefined;
  const several = 'can’t have several addresses with a template';
  const refuse = (field: string, reason: string, isWrong: boolean): void => {
    if (isWrong) details.push({ field, reason });
  };
  refuse('envelope.fromAddress', 'is required', from === undefined && !isStored);
  refuse('content.subjectLine', 'is required', subject === undefined && !isStored);
  refuse('content.html', 'can’t be used with template', html !== undefined && isStored);
  refuse('content.text', 'can’t be used with template', text !== undefined && isStored);
  refuse('envelope.toAddress', `${several}; send an email to each`, to.length > 1 && isStored);
  refuse('envelope.replyToAddress', several, replyTo.length > 1 && isStored);
  if (details.length > 0) throw invalidMembers(details);
  const [recipient] = [...to, ...cc, ...bcc];
  const addressesOf = (list: readonly HeaderMailbox[]) =>
    isStored ? list.map(({ address }) => address) : undefined;
  const value = {
    envelope: {
      toAddress: recipient?.address ?? '',
      toDisplayName: recipient?.displayName,
      ccAddressList: addressesOf(cc),
      bccAddressList: addressesOf(bcc),
      fromAddress: from?.address,
      fromDisplayName: from?.displayName,
      replyToAddress: replyTo[0]?.address,
    },
    content: {
      subjectLine: subject,
      ...(!isStored && { html, text, literal: values === undefined }),
      personalizationDataMap: values ?? (isStored ? {} : undefined),
      headers: mail.headers,
      attachments: attachments.map(({ filename = '', contentType, contentId }, index) => ({
        filename,
        contentType: contentType ?? typeOfFile(filename),
        contentId,
        content: String(index),
      })),
    },
    metadata: {
      transactional: mail.transactional,
      externalId: mail.externalId,
      tagList: tag === undefined ? undefined : [tag],
      attributes: mail.attributes,
    },
    actions: { sendAt: mail.sendAt, trackOpens, trackClicks },
  };
  const given = attachments.map(({ content = '' }, index) => {
    const found = typeof content === 'string' ? contents?.get(content) : content;
    return [String(index), found ?? content] as const;
  });
  const json = { value, problems: findInvalidText(value), contents: new Map(given) };
  return { templateId, json, people: { to, cc, bcc, replyTo } };
}

/** Messages can't be attached as such, because their parts can't be in base64. */
function typeOfFile(filename: string): string {
  const type = detectMimeType(filename);
  return type.startsWith('message/') ? 'application/octet-stream' : type;
}

/** More than fields can have, which the check of the body tells. */
const maxDepth = 10;

/**
 * Values of fields, which are texts, lists and objects. `false` is empty, because sections show what isn't.
 * @throws Fault VALIDATION_FAILED
 */
export function toFieldValues(values: Values): Values {
  return toFieldValue(values, -1) as Values;
}

function toFieldValue(value: unknown, depth: number): unknown {
  if (value === null || value === false) return '';
  if (typeof value !== 'object') return String(value);
  if (depth > maxDepth) {
    const reason = `is nested deeper than ${maxDepth} levels`;
    throw invalidMember('content.personalizationDataMap', reason);
  }
  if (Array.isArray(value)) return value.map((item) => toFieldValue(item, depth + 1));
  const members = Object.entries(value).map(([name, one]) => [name, toFieldValue(one, depth + 1)]);
  return Object.fromEntries(members);
}

/** An object in JSON. It's a problem if it's something else. */
export function readObject(json: string, place: Place): Values {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Not an object either.
  }
  place.refuse('must be a JSON object');
  return {};
}
