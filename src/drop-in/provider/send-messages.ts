import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { parseTemplateId } from '../../base/values/ids.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawRight } from '../../sending/submission/admit-caller.ts';
import type { AdmittedRequest } from '../../sending/submission/check-message.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { type BodyJson, member, readBodyJson } from '../../sending/submission/read-body-json.ts';
import { type AttachmentPlaces, parseLargeBody } from '../../sending/submission/read-large-json.ts';
import {
  type ContentMessage,
  type ContentSending,
  type Mailbox,
  toSendBody,
} from '../../sending/submission/send-content.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropInAnswer, DropInRequest } from './drop-in.ts';
import { invalidMember, invalidMembers } from './members.ts';

/** An email of a provider's API. */
export interface Mail extends Omit<ContentMessage, 'from' | 'subject' | 'values'> {
  readonly from: Mailbox | undefined;
  readonly subject?: string | undefined;
  /** As providers write it. Undefined: the message isn't made from a stored template. */
  readonly templateId?: string | undefined;
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

/** A message of a provider's request. */
export type ProviderMessage =
  | { readonly content: ContentMessage }
  /** From a stored template, with the send body. */
  | { readonly templateId: string; readonly json: BodyJson };

/**
 * Translates an email to the send operation.
 * @param details what is wrong with it already
 * @throws Fault VALIDATION_FAILED with members of the provider or the send body
 */
export function toMessage(mail: Mail, details: FaultDetail[]): ProviderMessage {
  const { from, subject, to, replyTo = [], html, text, templateId, values } = mail;
  const refuse = (field: string, reason: string, isWrong: boolean): void => {
    if (isWrong) details.push({ field, reason });
  };
  const isStored = templateId !== undefined;
  const several = 'can’t have several addresses with a template';
  refuse('envelope.toAddress', 'is required', to.length === 0 && isStored);
  refuse('envelope.fromAddress', 'is required', from === undefined && !isStored);
  refuse('content.subjectLine', 'is required', subject === undefined && !isStored);
  refuse('content.html', 'can’t be used with template', html !== undefined && isStored);
  refuse('content.text', 'can’t be used with template', text !== undefined && isStored);
  refuse('envelope.toAddress', `${several}; send an email to each`, to.length > 1 && isStored);
  refuse('envelope.replyToAddress', several, replyTo.length > 1 && isStored);
  if (details.length > 0) throw invalidMembers(details);
  if (isStored) {
    const { trackOpens = false, trackClicks = false } = mail;
    const stored = { ...mail, values: values ?? {}, trackOpens, trackClicks };
    return { templateId, json: toSendBody(stored, true) };
  }
  return { content: { ...mail, from, subject } as ContentMessage };
}

/** A file of an email. @param contents by their placeholders @param facts of the file, as the provider's email has them */
export function toFile(
  contents: BodyJson['contents'],
  ...[name = '', content = '', type = typeOfFile(name), contentId]: readonly (string | undefined)[]
): NonNullable<ContentMessage['attachments']>[number] {
  const given = contents?.get(content) ?? content;
  return { filename: name, contentType: type, contentId, content: given };
}

/** More than fields can have, which the check of the body tells. */
const maxDepth = 10;

/**
 * Values of fields, which are texts, lists and objects. `false` is empty, because sections show what isn't.
 * @throws Fault VALIDATION_FAILED
 */
export function toFieldValues(
  values: Readonly<Record<string, unknown>>,
  depth = 0,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, toFieldValue(value, depth)]),
  );
}

function toFieldValue(value: unknown, depth: number): unknown {
  if (value === null || value === false) return '';
  if (typeof value !== 'object') return String(value);
  if (depth > maxDepth)
    throw invalidMember(
      'content.personalizationDataMap',
      `is nested deeper than ${maxDepth} levels`,
    );
  if (Array.isArray(value)) return value.map((item) => toFieldValue(item, depth + 1));
  return toFieldValues(value as Readonly<Record<string, unknown>>, depth + 1);
}

/** An object in JSON; undefined with a problem if it's something else. */
export function readObject(
  json: string | undefined,
  field: string,
  details: FaultDetail[],
): Readonly<Record<string, unknown>> | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Not an object either.
  }
  details.push({ field, reason: 'must be a JSON object' });
  return undefined;
}

/**
 * Sends a message as the send operation does.
 * @throws Fault
 */
export async function sendMessage(
  request: DropInRequest,
  message: ProviderMessage,
  sending: ContentSending = {},
): Promise<Receipt> {
  const { submission } = request.services;
  return 'content' in message
    ? submission.sendContent(rightOf(request), message.content, sending)
    : submission.send(await toAdmitted(request, message, sending));
}

/**
 * Checks a message that isn't sent, or not yet.
 * @throws Fault
 */
export async function checkUnsent(request: DropInRequest, message: ProviderMessage): Promise<void> {
  const { submission } = request.services;
  return 'content' in message
    ? submission.checkContent(rightOf(request), message.content)
    : submission.check(await toAdmitted(request, message, {}));
}

const listStart = /^\s*\[/;

/**
 * Reads the emails of a batch, whose body is a list of them.
 * @param start what the body begins with instead, and how that is called
 */
export function useBatch(
  { services, admission, body }: DropInRequest,
  maxEmails: number,
  answer: (emails: readonly Buffer[]) => Promise<DropInAnswer>,
  [start, form] = [listStart, 'a list of emails'],
): Promise<DropInAnswer> {
  const [opening] = start.exec(body.toString('latin1', 0, 1_000)) ?? [];
  if (opening === undefined) throw invalidMember('', `the body must be ${form}`);
  const rest = [body.subarray(opening.length), Buffer.from(start === listStart ? '}' : '')];
  const batch = Buffer.concat([Buffer.from('{"messages":['), ...rest]);
  return services.submission.useItems(admission.account.id, batch, (emails) => {
    if (emails.length > maxEmails)
      throw invalidMember('', `the batch has more than ${maxEmails} emails`);
    return answer(emails);
  });
}

/** @throws Fault UNAUTHORIZED without the permission to send content of its own */
export function rightOf({ admission }: DropInRequest): RawRight {
  if (admission.raw === undefined)
    throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  return admission.raw;
}

async function toAdmitted(
  request: DropInRequest,
  { templateId, json }: Extract<ProviderMessage, { readonly json: unknown }>,
  { idempotencyKey, body = Buffer.from(JSON.stringify(json.value)), span }: ContentSending,
): Promise<AdmittedRequest> {
  return {
    admission: request.admission,
    templateText: await findTemplate(request, templateId),
    contentType: 'application/json',
    idempotencyKey,
    body,
    parsed: json,
    span,
  };
}

/** In linear time, which no pattern for both ends has. */
function withoutOuterDashes(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === '-') start += 1;
  while (end > start && text[end - 1] === '-') end -= 1;
  return text.slice(start, end);
}

/** The template with a provider's ID or alias: as it is here, or as `signalpost import` writes it. */
export async function findTemplate(
  { services, admission }: DropInRequest,
  text: string,
): Promise<string> {
  const imported = withoutOuterDashes(text.replaceAll(/[^A-Za-z0-9_-]+/g, '-')).toLowerCase();
  for (const candidate of [text, imported]) {
    const id = parseTemplateId(candidate);
    const finding = id && services.templates.published(admission.account.id, id);
    const found = finding && (await withTimeout(finding));
    if (found !== undefined) return candidate;
  }
  return text;
}

/**
 * Reads a JSON body.
 * @param places of its attachments, whose contents can make it larger than a send body
 * @throws Fault VALIDATION_FAILED
 */
export function readJson({ body, headers }: DropInRequest, places?: AttachmentPlaces): BodyJson {
  const isLarge = places !== undefined && body.length > sendBodyBytes;
  const parse = isLarge ? (bytes: Buffer) => parseLargeBody(bytes, places) : undefined;
  const json = readBodyJson(body, headers['content-type'], parse);
  if (json.problems.length > 0) throw new Fault('VALIDATION_FAILED', { details: json.problems });
  return json;
}

/** Where a body has contents of attachments. @param list their member of the body @param content their member with it */
export function attachmentsIn(list: string, content: string): AttachmentPlaces {
  return { member: content, find: (body) => member(body, list) };
}

const office = 'application/vnd.openxmlformats-officedocument.';

/** Media types of files by their names, for APIs that need none. */
const typesByExtension = new Map(
  Object.entries({
    'application/json': 'json',
    'application/pdf': 'pdf',
    'application/xml': 'xml',
    'application/zip': 'zip',
    'audio/mpeg': 'mp3',
    'image/gif': 'gif',
    'image/jpeg': 'jpeg jpg',
    'image/png': 'png',
    'image/svg+xml': 'svg',
    'image/webp': 'webp',
    'text/calendar': 'ics',
    'text/csv': 'csv',
    'text/html': 'htm html',
    'text/plain': 'txt',
    'video/mp4': 'mp4',
    [`${office}presentationml.presentation`]: 'pptx',
    [`${office}spreadsheetml.sheet`]: 'xlsx',
    [`${office}wordprocessingml.document`]: 'docx',
  }).flatMap(([type, extensions]) => extensions.split(' ').map((one) => [one, type] as const)),
);

export function typeOfFile(filename: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return typesByExtension.get(extension) ?? 'application/octet-stream';
}
