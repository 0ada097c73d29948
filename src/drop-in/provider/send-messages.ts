import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../base/values/errors.ts';
import { parseTemplateId } from '../../base/values/ids.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawRight } from '../../sending/submission/admit-caller.ts';
import type { AdmittedRequest } from '../../sending/submission/check-message.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import { type BodyJson, readBodyJson } from '../../sending/submission/read-body-json.ts';
import { type AttachmentPlaces, parseLargeBody } from '../../sending/submission/read-large-json.ts';
import type { ContentMessage, ContentSending } from '../../sending/submission/send-content.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropInRequest } from './drop-in.ts';

/** A message of a provider's request. */
export type ProviderMessage =
  | { readonly content: ContentMessage }
  /** From a stored template, with the send body. */
  | {
      readonly templateId: string;
      readonly body: unknown;
      readonly contents?: BodyJson['contents'];
    };

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

/** Messages of a batch that are sent at the same time; a commit takes them together. */
const concurrency = 20;

/** Milliseconds after which other work gets a turn: reading a large message takes some. */
const maxTurnMs = 4;

/** Does something with each, and gives its result or why it failed, in order. */
export async function forEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<(Result | Fault)[]> {
  const results: (Result | Fault)[] = [];
  let turnEnd = performance.now() + maxTurnMs;
  for (let start = 0; start < items.length; start += concurrency) {
    const begun: Promise<Result | Fault>[] = [];
    for (const [index, item] of items.slice(start, start + concurrency).entries()) {
      if (performance.now() > turnEnd) {
        await nextTurn();
        turnEnd = performance.now() + maxTurnMs;
      }
      begun.push(work(item, start + index).catch(toFault));
    }
    results.push(...(await Promise.all(begun)));
  }
  return results;
}

/** @throws Fault UNAUTHORIZED without the permission to send content of its own */
export function rightOf({ admission }: DropInRequest): RawRight {
  if (admission.raw === undefined)
    throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  return admission.raw;
}

async function toAdmitted(
  request: DropInRequest,
  { templateId, body: value, contents }: Extract<ProviderMessage, { readonly body: unknown }>,
  { idempotencyKey, body = Buffer.from(JSON.stringify(value)), span }: ContentSending,
): Promise<AdmittedRequest> {
  return {
    admission: request.admission,
    templateText: await findTemplate(request, templateId),
    contentType: 'application/json',
    idempotencyKey,
    body,
    parsed: { value, problems: findInvalidText(value), ...(contents && { contents }) },
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

/** Media types of files by their names, for APIs that need none. */
const typesByExtension: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

export function typeOfFile(filename: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(typesByExtension, extension)
    ? (typesByExtension[extension] as string)
    : 'application/octet-stream';
}
