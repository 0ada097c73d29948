import { Ajv, type ValidateFunction } from 'ajv';
import { type EmailAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { isObject } from '../../base/values/is-object.ts';
import { maxBcc, maxCc } from '../../content/message/message-content.ts';
import type { MessageTexts } from '../../content/rendering/fill-content.ts';
import { StructureChecker } from '../../content/template/check-structures.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { describeReadable } from '../../content/template/field-format.ts';
import type { FieldIndex } from '../../content/template/field-index.ts';
import type { GivenValues } from '../../content/template/field-value.ts';
import { isGuardable, targetReason } from '../../content/template/guarded-field.ts';
import { canonicalLocale, localeReason, maxLocaleLength } from '../../content/template/locale.ts';
import { parseOverride } from '../../content/template/parse-override.ts';
import { hasSecrets } from '../../content/template/secret-names.ts';
import { findUnreadable } from '../../content/template/template-fields.ts';
import {
  CustomHeaderRules,
  controlCharacterReason,
  hasControlCharacter,
  maxCustomHeaders,
  maxHeaderName,
  maxHeaderValue,
} from './custom-headers.ts';
import { readTiming } from './delivery-timing.ts';
import { describeBodyProblems, unusableFields } from './describe-body-problems.ts';
import { readAttachments } from './read-attachments.ts';
import { type BodyJson, member } from './read-body-json.ts';
import {
  type ContentBody,
  contentBodySchema,
  type SendBody,
  textBodySchema,
} from './send-body-schema.ts';
import type { ParsedContentRequest, ParsedSendRequest, SubjectOverride } from './send-request.ts';
import { readStatusRequest } from './status-link.ts';

const noValues: GivenValues = Object.freeze({});

/** What the body depends on: the lists and objects of the template, and how its markup is read. */
export interface ReceivingTemplate {
  readonly compiled: CompiledTemplate;
  readonly index: FieldIndex;
  readonly structured: FieldIndex | undefined;
}

/** Without coercion or defaults: a number in place of a string is a caller error. */
function compile<Body>(schema: object): ValidateFunction<Body> {
  return new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile<Body>(schema);
}

let bodyValidator: ValidateFunction<SendBody<string>> | undefined;
let contentValidator: ValidateFunction<ContentBody> | undefined;

const lineOverrides = ['subjectLine', 'previewText'];

/**
 * Validates the send body (section 2.2, limits of section 8) and converts it to a typed request.
 */
export class SendBodyParser {
  readonly #validate: ValidateFunction<SendBody<string>>;
  readonly #now: () => number;
  readonly #headerRules: CustomHeaderRules;

  /** @param now the time that send times are compared with, in milliseconds since the epoch */
  constructor(now: () => number = Date.now, headerRules = new CustomHeaderRules()) {
    this.#now = now;
    this.#headerRules = headerRules;
    bodyValidator ??= compile<SendBody<string>>(textBodySchema);
    this.#validate = bodyValidator;
  }

  /**
   * @param body an empty `personalizationDataMap` list is removed from its value
   * @param transactionalAllowed the account has the transactional add-on
   * @param template undefined: all values are texts
   * @throws Fault VALIDATION_FAILED with every problem found
   */
  parse(
    { value, problems, contents }: BodyJson,
    transactionalAllowed: boolean,
    template?: ReceivingTemplate,
  ): ParsedSendRequest {
    dropEmptyMaps(value);
    const structures =
      template?.structured === undefined ? undefined : detachStructures(value, template.structured);
    const validate = this.#validate;
    if (validate(value)) {
      const details: FaultDetail[] = [...problems, ...(structures?.problems ?? noProblems)];
      const readers = { now: this.#now, headerRules: this.#headerRules, contents };
      const request = toRequest(value, readers, details, template?.compiled, structures?.attach());
      if (template !== undefined && details.length === 0) addUnreadable(template, request, details);
      if (template !== undefined) addUnguardable(template.compiled, request, details);
      if (request.transactional && !transactionalAllowed) details.push(missingAddOn);
      if (request.bcc.length > 0 && hasSecret(template, value)) details.push(secretCopy);
      if (request.receiveReplies === true)
        addReplyProblems(request.replyTo !== undefined, hasSecret(template, value), details);
      if (details.length > 0) throw unusableFields(details);
      return request;
    }
    const details = [
      ...problems,
      ...describeBodyProblems(validate.errors ?? []),
      ...(structures?.problems ?? noProblems),
    ];
    addTextProblems(value, this.#headerRules, details, lineOverrides, template?.compiled);
    this.#addRuleProblems(value, transactionalAllowed, details, template);
    throw unusableFields(details);
  }

  /**
   * Validates the body of a message that isn't made from a stored template, as `parse` does.
   * @throws Fault VALIDATION_FAILED with every problem found
   */
  parseContent(
    { value, problems, contents }: BodyJson,
    transactionalAllowed: boolean,
  ): ParsedContentRequest {
    dropEmptyMaps(value);
    contentValidator ??= compile<ContentBody>(contentBodySchema);
    const details: FaultDetail[] = [...problems];
    const validate = contentValidator;
    if (!validate(value)) {
      details.push(...describeBodyProblems(validate.errors ?? []));
      addTextProblems(value, this.#headerRules, details, []);
      this.#addRuleProblems(value, transactionalAllowed, details);
      throw unusableFields(details);
    }
    const { subjectLine, html, text, literal = false, ...content } = value.content;
    const actions = { trackOpens: false, trackClicks: false, ...value.actions };
    const readers = { now: this.#now, headerRules: this.#headerRules, contents };
    const body = { ...value, content, actions };
    const request = toRequest(body, readers, details, undefined, undefined);
    const texts = { subject: subjectLine, html: toOptional(html), text: toOptional(text) };
    addContentProblems(texts, literal, request, details);
    if (request.transactional && !transactionalAllowed) details.push(missingAddOn);
    if (request.receiveReplies === true)
      addReplyProblems(request.replyTo !== undefined, false, details);
    if (details.length > 0) throw unusableFields(details);
    const now = this.#now();
    const date = new Date(Math.max(now, request.timing?.sendAt?.getTime() ?? now));
    return { request, texts, literal, date };
  }

  /** Problems of a body that violates the schema with what its members mean together. */
  #addRuleProblems(
    value: unknown,
    transactionalAllowed: boolean,
    details: FaultDetail[],
    template?: ReceivingTemplate,
  ): void {
    readTiming(actionsOf(value), this.#now, details);
    if (member(member(value, 'metadata'), 'transactional') === true && !transactionalAllowed)
      details.push(missingAddOn);
    if (hasItems(member(member(value, 'envelope'), 'bccAddressList')) && hasSecret(template, value))
      details.push(secretCopy);
    const replyTo = member(member(value, 'envelope'), 'replyToAddress') ?? '';
    if (actionsOf(value).receiveReplies === true)
      addReplyProblems(replyTo !== '', hasSecret(template, value), details);
  }
}

function addContentProblems(
  { html, text }: MessageTexts,
  literal: boolean,
  { values, locale, from }: ParsedSendRequest,
  details: FaultDetail[],
): void {
  if (html === undefined && text === undefined)
    details.push({ field: 'content', reason: 'needs html, text or both' });
  if (from === undefined) details.push({ field: 'envelope.fromAddress', reason: 'is required' });
  if (!literal) return;
  const reason = 'can’t be used with literal content; remove one of them';
  if (Object.keys(values).length > 0)
    details.push({ field: 'content.personalizationDataMap', reason });
  if (locale !== undefined) details.push({ field: 'content.locale', reason });
}

function hasSecret(template: ReceivingTemplate | undefined, body: unknown): boolean {
  if (template === undefined) return false;
  const map = member(member(body, 'content'), 'personalizationDataMap');
  return hasSecrets(template.compiled, typeof map === 'object' && map !== null ? map : noValues);
}

const missingAddOn: FaultDetail = {
  field: 'metadata.transactional',
  reason: 'the account does not have the transactional email add-on',
};

const secretCopy: FaultDetail = {
  field: 'envelope.bccAddressList',
  reason: 'can’t be used with a template that has secret fields; remove it',
};

const twoReplyAddresses: FaultDetail = {
  field: 'actions.receiveReplies',
  reason: 'can’t be used together with envelope.replyToAddress; remove one of them',
};

/** Replies quote the original message, which their readers may not be allowed to see. */
const secretQuoted: FaultDetail = {
  field: 'actions.receiveReplies',
  reason:
    'can’t be used with a template that has secret fields, because replies quote them; remove it',
};

function addReplyProblems(hasReplyTo: boolean, secret: boolean, details: FaultDetail[]): void {
  if (hasReplyTo) details.push(twoReplyAddresses);
  if (secret) details.push(secretQuoted);
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

const maps = [
  ['content', 'personalizationDataMap'],
  ['content', 'headers'],
  ['metadata', 'attributes'],
] as const;

/** Treats `[]` in place of a map as absent: PHP clients encode an empty map that way. */
function dropEmptyMaps(value: unknown): void {
  for (const [groupName, name] of maps) {
    const group = member(value, groupName);
    const map = member(group, name);
    if (Array.isArray(map) && map.length === 0) delete (group as Record<string, unknown>)[name];
  }
}

const noProblems: readonly FaultDetail[] = Object.freeze([]);

/** The lists and objects of a map, taken out of it so that the rest is checked as texts. */
interface DetachedStructures {
  readonly problems: readonly FaultDetail[];
  /** The whole map again, in the order of the request; undefined: it has no lists or objects. */
  attach(): GivenValues | undefined;
}

function detachStructures(value: unknown, structured: FieldIndex): DetachedStructures | undefined {
  const map = member(member(value, 'content'), 'personalizationDataMap');
  if (!isObject(map)) return undefined;
  const whole = { ...(map as GivenValues) };
  const checker = new StructureChecker();
  let count = 0;
  for (const [name, field] of structured) {
    if (!Object.hasOwn(map, name)) continue;
    checker.check(name, field, member(map, name));
    // Defined, as assigning to `__proto__` would not replace a member of that name.
    Object.defineProperty(map, name, { value: '' });
    count += 1;
  }
  return {
    problems: checker.problems.map(({ place, reason }) => ({ field: mapField(place), reason })),
    attach: () => (count === 0 ? undefined : whole),
  };
}

function mapField(place: string): string {
  return `content.personalizationDataMap.${place}`;
}

function addUnreadable(
  { compiled, index }: ReceivingTemplate,
  { values, subjectLine, previewText }: ParsedSendRequest,
  details: FaultDetail[],
): void {
  const overrides = { subjectLine: subjectLine?.parsed, previewText: previewText?.parsed };
  for (const { place, format } of findUnreadable(compiled, index, values, overrides))
    details.push({ field: mapField(place), reason: `must be ${describeReadable(format)}` });
}

/** A guarded field's value becomes a link, and only in the parts that the template was checked for. */
function addUnguardable(
  { guards = {} }: CompiledTemplate,
  { values, subjectLine, previewText }: ParsedSendRequest,
  details: FaultDetail[],
): void {
  for (const name of Object.keys(guards))
    if (Object.hasOwn(values, name) && !isGuardable(values[name]))
      details.push({ field: mapField(name), reason: targetReason });
  for (const [part, override] of Object.entries({ subjectLine, previewText })) {
    const name = override?.parsed.fields.find((field) => Object.hasOwn(guards, field));
    if (name !== undefined)
      details.push({
        field: `content.${part}`,
        reason: `can’t use {{${name}}}, which is guarded; remove it`,
      });
  }
}

/** The actions of a body that violates the schema. */
function actionsOf(value: unknown): Readonly<Record<string, unknown>> {
  const actions = member(value, 'actions');
  return typeof actions === 'object' && actions !== null
    ? (actions as Readonly<Record<string, unknown>>)
    : {};
}

/** What a body is read with. */
interface BodyReaders extends Pick<BodyJson, 'contents'> {
  readonly now: () => number;
  readonly headerRules: CustomHeaderRules;
}

function toRequest(
  body: SendBody<string>,
  { now, headerRules, contents }: BodyReaders,
  details: FaultDetail[],
  template: CompiledTemplate | undefined,
  structured: GivenValues | undefined,
): ParsedSendRequest {
  const { envelope, content, metadata, actions } = body;
  return {
    to: readAddress(envelope.toAddress, 'envelope.toAddress', details),
    toDisplayName: readRecipientName(envelope.toDisplayName, details),
    cc: readList(envelope.ccAddressList, 'envelope.ccAddressList', details),
    bcc: readList(envelope.bccAddressList, 'envelope.bccAddressList', details),
    from: readOptionalAddress(envelope.fromAddress, 'envelope.fromAddress', details),
    fromDisplayName: toOptional(envelope.fromDisplayName),
    replyTo: readOptionalAddress(envelope.replyToAddress, 'envelope.replyToAddress', details),
    subjectLine: readOverride(content?.subjectLine, 'content.subjectLine', details, template),
    previewText: readOverride(content?.previewText, 'content.previewText', details, template),
    locale: readLocale(content?.locale, details),
    attachments: readAttachments(content?.attachments, contents, details),
    values: structured ?? content?.personalizationDataMap ?? noValues,
    structured: structured !== undefined,
    headers: content?.headers && headerRules.read(content.headers, details),
    attributes: emptyMapToUndefined(metadata?.attributes),
    transactional: metadata?.transactional ?? false,
    externalId: toOptional(metadata?.externalId),
    tag: metadata?.tagList?.[0],
    trackOpens: actions.trackOpens,
    trackClicks: actions.trackClicks,
    deliverWhenDelayed: actions.deliveryWhenDelayed?.toLowerCase() !== 'false',
    receiveReplies: actions.receiveReplies,
    timing: readTiming(actions, now, details),
    status: readStatusRequest(actions.statusToken),
  };
}

/** Treats an optional `""` as absent. */
function toOptional(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function emptyMapToUndefined(
  map: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  return map === undefined || Object.keys(map).length === 0 ? undefined : map;
}

function readRecipientName(text: string | undefined, details: FaultDetail[]): string | undefined {
  if (text === undefined) return undefined;
  if (hasControlCharacter(text))
    details.push({ field: 'envelope.toDisplayName', reason: controlCharacterReason });
  return toOptional(text.trim());
}

function readAddress(text: string, field: string, details: FaultDetail[]): EmailAddress {
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  const reason = text === '' ? 'is required' : `is not an email address: it ${parsed.reason}`;
  details.push({ field, reason });
  return text as EmailAddress;
}

function readOptionalAddress(
  text: string | undefined,
  field: string,
  details: FaultDetail[],
): EmailAddress | undefined {
  return text === undefined || text === '' ? undefined : readAddress(text, field, details);
}

const noAddresses: readonly EmailAddress[] = Object.freeze([]);

function readList(
  list: readonly string[] | undefined,
  field: string,
  details: FaultDetail[],
): readonly EmailAddress[] {
  if (list === undefined || list.length === 0) return noAddresses;
  return list.map((text, index) => readAddress(text, `${field}[${index}]`, details));
}

function readOverride(
  text: string | undefined,
  field: string,
  details: FaultDetail[],
  template: CompiledTemplate | undefined,
): SubjectOverride | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parseOverride(text, template);
  if (parsed.ok) return { text, parsed: parsed.override };
  details.push({ field, reason: parsed.reason });
  return undefined;
}

function readLocale(text: string | undefined, details: FaultDetail[]): string | undefined {
  if (text === undefined || text === '') return undefined;
  const locale = canonicalLocale(text);
  if (locale === undefined) details.push({ field: 'content.locale', reason: localeReason });
  return locale;
}

/** The headers within the limits of the schema, which has reported the others. */
function readableHeaders(headers: unknown): Record<string, string> {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return {};
  const readable = Object.entries(headers)
    .slice(0, maxCustomHeaders)
    .filter(
      ([name, text]) =>
        name.length <= maxHeaderName && typeof text === 'string' && text.length <= maxHeaderValue,
    );
  return Object.fromEntries(readable);
}

/** Adds text problems of correctly placed strings to the errors of a body that violates the schema. */
function addTextProblems(
  value: unknown,
  headerRules: CustomHeaderRules,
  details: FaultDetail[],
  overrides: readonly string[],
  template?: CompiledTemplate,
): void {
  const envelope = member(value, 'envelope');
  for (const name of ['toAddress', 'fromAddress', 'replyToAddress']) {
    const text = member(envelope, name);
    if (typeof text !== 'string' || (text === '' && name !== 'toAddress')) continue;
    readAddress(text, `envelope.${name}`, details);
  }
  for (const [name, maxItems] of [
    ['ccAddressList', maxCc],
    ['bccAddressList', maxBcc],
  ] as const) {
    const list = member(envelope, name);
    if (!Array.isArray(list)) continue;
    list.slice(0, maxItems).forEach((text: unknown, index) => {
      if (typeof text === 'string') readAddress(text, `envelope.${name}[${index}]`, details);
    });
  }
  const content = member(value, 'content');
  for (const name of overrides) {
    const text = member(content, name);
    if (typeof text === 'string') readOverride(text, `content.${name}`, details, template);
  }
  const locale = member(content, 'locale');
  if (typeof locale === 'string' && locale.length <= maxLocaleLength) readLocale(locale, details);
  const name = member(envelope, 'toDisplayName');
  if (typeof name === 'string') readRecipientName(name, details);
  headerRules.read(readableHeaders(member(content, 'headers')), details);
}
