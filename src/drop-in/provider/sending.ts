import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../base/values/errors.ts';
import { parseTemplateId } from '../../base/values/ids.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
} from '../../content/template/template-page-store.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawRight } from '../../sending/submission/admit-caller.ts';
import type { AdmittedRequest } from '../../sending/submission/check-message.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { member, readBodyJson } from '../../sending/submission/read-body-json.ts';
import { type AttachmentPlaces, parseLargeBody } from '../../sending/submission/read-large-json.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { RequestFacts } from './drop-in-request.ts';
import type { ProviderMessage } from './mail.ts';
import { invalidMember } from './members.ts';

/** Messages of a batch that are sent at the same time; a commit takes them together. */
const concurrency = 20;
const listStart = /^\s*\[/;

/** The messages of a batch. Each call makes one that can be sent once. */
type BatchMessages = readonly (() => ProviderMessage)[];

/** A problem of a message with its place in the batch. */
type NameFault = (fault: Fault, index: number) => Fault;

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

/** What a request sends, and the templates for it. */
export class Sending {
  readonly #request: RequestFacts;

  constructor(request: RequestFacts) {
    this.#request = request;
  }

  /**
   * Reads a JSON body.
   * @param places of its attachments, whose contents can make it larger than a send body
   * @throws Fault VALIDATION_FAILED
   */
  readJson(places?: AttachmentPlaces, body = this.#request.body): ProviderJson {
    const isLarge = places !== undefined && body.length > sendBodyBytes;
    const parse = isLarge ? (bytes: Buffer) => parseLargeBody(bytes, places) : undefined;
    const json = readBodyJson(body, this.#request.headers['content-type'], parse);
    if (json.problems.length > 0) throw new Fault('VALIDATION_FAILED', { details: json.problems });
    return json as ProviderJson;
  }

  /**
   * Sends a message as the send operation does.
   * @param body what a repetition with the key must equal
   * @throws Fault
   */
  async send(
    message: ProviderMessage,
    idempotencyKey?: unknown,
    body = this.#request.body,
  ): Promise<Receipt> {
    const { services, span } = this.#request;
    const request = { idempotencyKey, body, span };
    return message.templateId === undefined
      ? services.submission.sendContent(this.right, message, request)
      : services.submission.send({ ...(await this.#admit(message)), ...request });
  }

  /** Checks a message that isn't sent, or not yet. @throws Fault */
  async check(message: ProviderMessage): Promise<void> {
    const { submission } = this.#request.services;
    return message.templateId === undefined
      ? submission.checkContent(this.right, message)
      : submission.check(await this.#admit(message));
  }

  async #admit({ templateId = '', json }: ProviderMessage): Promise<AdmittedRequest> {
    const { admission, body } = this.#request;
    const templateText = await this.findTemplate(templateId);
    const request = { contentType: 'application/json', idempotencyKey: undefined, body };
    return { ...request, admission, templateText, parsed: json };
  }

  /** @throws Fault UNAUTHORIZED without the permission to send content of its own */
  get right(): RawRight {
    const { raw } = this.#request.admission;
    if (raw === undefined) throw new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
    return raw;
  }

  /** Checks all messages of a batch before one of them is sent. @throws Fault the first problem */
  async checkEach(messages: BatchMessages, nameFault: NameFault = (one) => one): Promise<void> {
    const checked = await this.forEach(messages, async (message) => this.check(message()));
    for (const [index, one] of checked.entries())
      if (one instanceof Fault) throw nameFault(one, index);
  }

  /**
   * Sends the messages of a batch. What was checked can still fail, such as by a suppression.
   * @param bodyAt what a repetition of a message with the request's key must equal; undefined: the API has no keys
   * @throws Fault the first problem if none is sent, unless they are independent
   */
  async sendEach(
    messages: BatchMessages,
    bodyAt?: (index: number) => Buffer | undefined,
    nameFault: NameFault = (one) => one,
    isIndependent = false,
  ) {
    const key = bodyAt && this.#request.headers['idempotency-key'];
    const results = await this.forEach(messages, async (message, index) =>
      this.send(message(), key === undefined ? key : `${key}/${index}`, bodyAt?.(index)),
    );
    const sent = results.flatMap((one) => (one instanceof Fault ? [] : [one]));
    const failed = results.flatMap((one, index) =>
      one instanceof Fault ? [{ fault: nameFault(one, index), index }] : [],
    );
    if (sent.length === 0 && failed[0] && !isIndependent) throw failed[0].fault;
    return { sent, failed };
  }

  /** Does something with each, a few at a time, and gives its result or why it failed, in order. */
  async forEach<Item, Result>(
    items: readonly Item[],
    work: (item: Item, index: number) => Promise<Result>,
  ): Promise<(Result | Fault)[]> {
    const results: (Result | Fault)[] = [];
    const waiting = items.entries();
    const workInTurn = async (): Promise<void> => {
      for (const [index, item] of waiting) {
        // Reading a large message takes milliseconds.
        await nextTurn();
        results[index] = await work(item, index).catch(toFault);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, workInTurn));
    return results;
  }

  /**
   * Reads the emails of a batch, whose body is a list of them, and keeps its slot while they are used.
   * @param start what the body begins with instead, and how that is called
   */
  useBatch<Result>(
    maxEmails: number,
    use: (emails: readonly Buffer[]) => Promise<Result>,
    [start, form]: readonly [RegExp, string] = [listStart, 'a list of emails'],
  ): Promise<Result> {
    const { services, accountId, body } = this.#request;
    const [opening] = start.exec(body.toString('latin1', 0, 1_000)) ?? [];
    if (opening === undefined) throw invalidMember('', `the body must be ${form}`);
    const rest = [body.subarray(opening.length), Buffer.from(start === listStart ? '}' : '')];
    const batch = Buffer.concat([Buffer.from('{"messages":['), ...rest]);
    return services.submission.useItems(accountId, batch, (emails) => {
      if (emails.length > maxEmails)
        throw invalidMember('', `the batch has more than ${maxEmails} emails`);
      return use(emails);
    });
  }

  /** Does something in the slot of a batch, whose messages are elsewhere than in its body. */
  useSlot<Result>(use: () => Promise<Result>): Promise<Result> {
    const { services, accountId } = this.#request;
    return services.submission.useItems(accountId, Buffer.from('{"messages":[]}'), use);
  }

  /** The template with a provider's ID or alias: as it is here, or as `signalpost import` writes it. */
  async findTemplate(text: string): Promise<string> {
    const { services, accountId } = this.#request;
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
  async readTemplate(text = '') {
    const { kysely, accountId } = this.#request;
    const id = parseTemplateId(await this.findTemplate(text));
    const [facts] = id === undefined ? [] : await readTemplateFacts(kysely, accountId, { id });
    if (facts === undefined) return undefined;
    const version = await readTemplateVersion(kysely, accountId, facts.id, 'published');
    return { facts, published: version };
  }
}
