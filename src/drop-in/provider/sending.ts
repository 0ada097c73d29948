import { Fault } from '../../base/values/errors.ts';
import { parseTemplateId } from '../../base/values/ids.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
} from '../../content/template/template-page-store.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawRight } from '../../sending/submission/admit-caller.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { member, readBodyJson } from '../../sending/submission/read-body-json.ts';
import { type AttachmentPlaces, parseLargeBody } from '../../sending/submission/read-large-json.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropInRequest } from './drop-in.ts';
import type { ProviderMessage } from './mail.ts';
import { invalidMember } from './place.ts';

const listStart = /^\s*\[/;

/** Messages of a batch. Each call makes one that can be sent once. */
type BatchMessages = readonly (() => ProviderMessage)[];

/** Where a body has contents of attachments. @param list their member of the body @param content their member with it */
export function attachmentsIn(list: string, content: string): AttachmentPlaces {
  return { member: content, find: (body) => member(body, list) };
}

/** A JSON body, with contents of its attachments by the placeholders that it has instead. */
export interface ProviderJson {
  readonly value: unknown;
  /** Base64, which is decoded in its place. */
  readonly contents?: ReadonlyMap<string, Buffer>;
}

/** A message of a batch that can't be sent. */
export interface FailedMessage {
  readonly fault: Fault;
  readonly index: number;
}

/** What came of the messages of a batch. */
function divide<Result>(results: readonly (Result | Fault)[]) {
  const sent = results.flatMap((one) => (one instanceof Fault ? [] : [one]));
  const failed = results.flatMap((one, index): FailedMessage[] =>
    one instanceof Fault ? [{ fault: one, index }] : [],
  );
  return { sent, failed };
}

/**
 * Reads a JSON body.
 * @param places of its attachments, whose contents can make it larger than a send body
 * @throws Fault VALIDATION_FAILED
 */
export function readJson(
  { body: ownBody, headers }: DropInRequest,
  places?: AttachmentPlaces,
  body = ownBody,
): ProviderJson {
  const isLarge = places !== undefined && body.length > sendBodyBytes;
  const parse = isLarge ? (bytes: Buffer) => parseLargeBody(bytes, places) : undefined;
  const json = readBodyJson(body, headers['content-type'], parse);
  if (json.problems.length > 0) throw new Fault('VALIDATION_FAILED', { details: json.problems });
  return json as ProviderJson;
}

/**
 * Sends a message as the send operation does.
 * @param body what a repetition with the key must equal
 * @throws Fault
 */
export async function sendMessage(
  request: DropInRequest,
  message: ProviderMessage,
  idempotencyKey?: unknown,
  body = request.body,
): Promise<Receipt> {
  const { submission } = request.services;
  const sending = { idempotencyKey, body, span: request.span };
  return message.templateId === undefined
    ? submission.sendContent(rightOf(request), message, sending)
    : submission.send({ ...sending, ...(await admit(request, message)) });
}

/** Checks a message that isn't sent, or not yet. @throws Fault */
async function check(request: DropInRequest, message: ProviderMessage): Promise<void> {
  const { services, body } = request;
  const sending = { idempotencyKey: undefined, body };
  return message.templateId === undefined
    ? services.submission.checkContent(rightOf(request), message)
    : services.submission.check({ ...sending, ...(await admit(request, message)) });
}

async function admit(request: DropInRequest, { templateId = '', json }: ProviderMessage) {
  const templateText = await findTemplate(request, templateId);
  return { admission: request.admission, templateText, contentType: undefined, parsed: json };
}

/** @throws Fault UNAUTHORIZED without the permission to send content of its own */
export function rightOf({ admission: { raw } }: DropInRequest): RawRight {
  if (raw !== undefined) return raw;
  throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
}

/** Checks all messages of a batch before one of them is sent. @returns the first that can't be */
export async function checkEach(
  request: DropInRequest,
  messages: BatchMessages,
): Promise<FailedMessage | undefined> {
  return divide(await forEach(messages, (message) => check(request, message()))).failed[0];
}

/**
 * Sends the messages of a batch. What was checked can still fail, such as by a suppression.
 * @param bodyAt what a repetition of a message with the request's key must equal; undefined: the API has no keys
 */
export async function sendEach(
  request: DropInRequest,
  messages: BatchMessages,
  bodyAt?: (index: number) => Buffer | undefined,
) {
  const key = bodyAt && request.headers['idempotency-key'];
  const sendOne = (message: BatchMessages[number], index: number) =>
    sendMessage(request, message(), key === undefined ? key : `${key}/${index}`, bodyAt?.(index));
  return divide(await forEach(messages, sendOne));
}

/**
 * Does something with the emails of a batch, in its slot.
 * @param start what the body begins with if it isn't a list of them, and how that is called
 */
export function useBatch<Result>(
  request: DropInRequest,
  maxEmails: number,
  use: (emails: readonly Buffer[]) => Promise<Result>,
  [start, form]: readonly [RegExp, string] = [listStart, 'a list of emails'],
): Promise<Result> {
  const { body } = request;
  const [opening] = start.exec(body.toString('latin1', 0, 1_000)) ?? [];
  if (opening === undefined) throw invalidMember('', `the body must be ${form}`);
  const rest = [body.subarray(opening.length), Buffer.from(start === listStart ? '}' : '')];
  const batch = Buffer.concat([Buffer.from('{"messages":['), ...rest]);
  const useEmails = async (emails: readonly Buffer[]) => {
    if (emails.length <= maxEmails) return use(emails);
    throw invalidMember('', `the batch has more than ${maxEmails} emails`);
  };
  return useSlot(request, useEmails, batch);
}

/** Does something in the slot of a batch. @param batch undefined: its messages are elsewhere */
export function useSlot<Result>(
  { services, accountId }: DropInRequest,
  use: (emails: readonly Buffer[]) => Promise<Result>,
  batch = Buffer.from('{"messages":[]}'),
): Promise<Result> {
  return services.submission.useItems(accountId, batch, use);
}

/** The template with a provider's ID or alias: as it is here, or as `signalpost import` writes it. */
async function findTemplate({ services, accountId }: DropInRequest, text: string): Promise<string> {
  const dashed = text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').toLowerCase();
  const [imported = ''] = /[^-](?:.*[^-])?/.exec(dashed) ?? [];
  for (const candidate of [text, imported]) {
    const id = parseTemplateId(candidate);
    const finding = id && services.templates.published(accountId, id);
    if (finding && (await withTimeout(finding)) !== undefined) return candidate;
  }
  return text;
}

/** Such a template, and its published version; undefined if there is none. */
export async function readTemplate(request: DropInRequest, text = '') {
  const { kysely, accountId } = request;
  const id = parseTemplateId(await findTemplate(request, text));
  const [facts] = id === undefined ? [] : await readTemplateFacts(kysely, accountId, { id });
  const version = facts && (await readTemplateVersion(kysely, accountId, facts.id, 'published'));
  return facts && { facts, published: version };
}
