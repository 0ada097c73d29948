import { detectMimeType } from 'nodemailer/lib/mime-funcs/mime-types';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import type { MailPeople } from '../../sending/submission/compose-content-mail.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import type { BodyJson, DecodedBytes } from '../../sending/submission/read-body-json.ts';
import { contentBodySchema } from '../../sending/submission/send-body-schema.ts';
import type { ContentMessage } from '../../sending/submission/send-content.ts';
import type { MemberNames } from './drop-in-errors.ts';
import { mapValues } from './members.ts';
import { invalidMember, Place } from './place.ts';

type Values = Readonly<Record<string, unknown>>;

/** What the names of members of the send body say beyond those of an email. */
const nameEnd = /(?:Address|DisplayName|Line)?(?:List)?$/;
const { envelope, content, metadata, actions } = contentBodySchema.properties;

/** Members of the send body with the names that they have in an email. */
const sendMembers: MemberNames = Object.fromEntries([
  ...['envelope', 'content', 'templateId', 'messages', 'idempotencyKey'].map((name) => [
    name,
    name,
  ]),
  ...Object.entries({ envelope, content, metadata, actions }).flatMap(([group, { properties }]) =>
    Object.keys(properties).map((name) => [`${group}.${name}`, name.replace(nameEnd, '')]),
  ),
  ['content.personalizationDataMap', 'values'],
  ['metadata.tagList[0]', 'tag'],
]);

/** `To` for `to`. */
export function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** What a provider calls the members of the send body. @param given by the names that they have here @param styled the others */
export function namesOf(given: MemberNames, styled = (name: string) => name): MemberNames {
  return mapValues(sendMembers, (name) => given[name] ?? styled(name));
}

/** An email of a provider's API, under the names that its members have here. */
export interface Mail
  extends Partial<MailPeople>,
    Partial<Record<'subject' | 'html' | 'text' | 'tag' | 'externalId' | 'sendAt', string>>,
    Partial<Record<'transactional' | 'trackOpens' | 'trackClicks', boolean>>,
    Partial<Record<'headers' | 'attributes', Readonly<Record<string, string>>>> {
  readonly from?: HeaderMailbox;
  readonly attachments?: readonly MailAttachment[];
  /** As providers write it. Undefined: the message isn't made from a stored template. */
  readonly templateId?: string;
  /** Undefined: the content is literal. */
  readonly values?: Values;
}

interface MailAttachment extends Partial<Record<'filename' | 'contentType' | 'contentId', string>> {
  /** Base64, or the placeholder of it; or the file itself. */
  readonly content?: string | DecodedBytes;
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
  const place = new Place('', details);
  place.refuseIf(from === undefined && !isStored, 'is required', 'envelope.fromAddress');
  place.refuseIf(subject === undefined && !isStored, 'is required', 'content.subjectLine');
  place.refuseIf(html !== undefined && isStored, 'can’t be used with template', 'content.html');
  place.refuseIf(text !== undefined && isStored, 'can’t be used with template', 'content.text');
  const eachAlone = `${several}; send an email to each`;
  place.refuseIf(to.length > 1 && isStored, eachAlone, 'envelope.toAddress');
  place.refuseIf(replyTo.length > 1 && isStored, several, 'envelope.replyToAddress');
  place.end();
  const [recipient] = [...to, ...cc, ...bcc];
  const addressesOf = (list: readonly HeaderMailbox[]) => list.map(({ address }) => address);
  const copies = { ccAddressList: addressesOf(cc), bccAddressList: addressesOf(bcc) };
  const value = {
    envelope: {
      toAddress: recipient?.address ?? '',
      toDisplayName: recipient?.displayName,
      fromAddress: from?.address,
      fromDisplayName: from?.displayName,
      replyToAddress: replyTo[0]?.address,
      ...(isStored && copies),
    },
    content: {
      subjectLine: subject,
      personalizationDataMap: values ?? (isStored ? {} : undefined),
      headers: mail.headers,
      attachments: attachments.map(({ filename = '', contentType, contentId }, index) => ({
        filename,
        // A message can't be attached as such, because its parts can't be in base64.
        contentType: contentType ?? detectMimeType(filename).replace(/^message\/.*/, anyType),
        contentId,
        content: String(index),
      })),
      ...(!isStored && { html, text, literal: values === undefined }),
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

const anyType = 'application/octet-stream';

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
  const tooDeep = `is nested deeper than ${maxDepth} levels`;
  if (depth > maxDepth) throw invalidMember('content.personalizationDataMap', tooDeep);
  if (Array.isArray(value)) return value.map((item) => toFieldValue(item, depth + 1));
  return mapValues({ ...value }, (one) => toFieldValue(one, depth + 1));
}
