import { Ajv, type ValidateFunction } from 'ajv';
import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { Fault, type FaultDetail } from '../foundation/errors.ts';
import { maxBcc, maxCc } from '../message/message-content.ts';
import type { CompiledField } from '../template/compiled-template.ts';
import { parseOverride } from '../template/parse-override.ts';
import {
  CustomHeaderRules,
  controlCharacterReason,
  hasControlCharacter,
  maxCustomHeaders,
  maxHeaderName,
  maxHeaderValue,
} from './custom-headers.ts';
import { describeBodyProblems, limitDetails } from './describe-body-problems.ts';
import type { BodyJson } from './read-body-json.ts';
import { type SendBody, sendBodySchema } from './send-body-schema.ts';
import type { ParsedSendRequest, SubjectOverride } from './send-request.ts';

const noValues: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Validates the send body (section 2.2, limits of section 8) and converts it to a typed request. Compiled once; keep
 * one instance for the life of the service.
 */
export class SendBodyParser {
  readonly #validate: ValidateFunction<SendBody>;
  readonly #headerRules: CustomHeaderRules;

  constructor(headerRules = new CustomHeaderRules()) {
    this.#headerRules = headerRules;
    // No coercion or defaults: a number in place of a string is a caller error.
    this.#validate = new Ajv({ allErrors: true, strict: true }).compile<SendBody>(sendBodySchema);
  }

  /**
   * @param body an empty `personalizationDataMap` list is removed from its value
   * @param transactionalAllowed the account has the transactional add-on
   * @param fields of the template
   * @throws Fault VALIDATION_FAILED with every problem found
   */
  parse(
    { value, problems }: BodyJson,
    transactionalAllowed: boolean,
    fields: readonly Pick<CompiledField, 'secret'>[] = [],
  ): ParsedSendRequest {
    dropEmptyMaps(value);
    const validate = this.#validate;
    if (validate(value)) {
      const details: FaultDetail[] = [...problems];
      const request = toRequest(value, this.#headerRules, details);
      if (request.transactional && !transactionalAllowed) details.push(missingAddOn);
      if (request.bcc.length > 0 && fields.some(({ secret }) => secret)) details.push(secretCopy);
      if (details.length > 0) throw invalidBody(details);
      return request;
    }
    const details = [...problems, ...describeBodyProblems(validate.errors ?? [])];
    addTextProblems(value, this.#headerRules, details);
    if (member(member(value, 'metadata'), 'transactional') === true && !transactionalAllowed)
      details.push(missingAddOn);
    if (
      hasItems(member(member(value, 'envelope'), 'bccAddressList')) &&
      fields.some(({ secret }) => secret)
    )
      details.push(secretCopy);
    throw invalidBody(details);
  }
}

function invalidBody(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details: limitDetails(details) });
}

const missingAddOn: FaultDetail = {
  field: 'metadata.transactional',
  reason: 'the account does not have the transactional email add-on',
};

const secretCopy: FaultDetail = {
  field: 'envelope.bccAddressList',
  reason: 'can’t be used with a template that has secret fields; remove it',
};

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
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

function toRequest(
  body: SendBody,
  headerRules: CustomHeaderRules,
  details: FaultDetail[],
): ParsedSendRequest {
  const { envelope, content, metadata, actions } = body;
  return {
    to: readAddress(envelope.toAddress, 'envelope.toAddress', details),
    toDisplayName: readRecipientName(envelope.toDisplayName, details),
    cc: readList(envelope.ccAddressList, 'envelope.ccAddressList', details),
    bcc: readList(envelope.bccAddressList, 'envelope.bccAddressList', details),
    from: readOptionalAddress(envelope.fromAddress, 'envelope.fromAddress', details),
    fromDisplayName: emptyToUndefined(envelope.fromDisplayName),
    replyTo: readOptionalAddress(envelope.replyToAddress, 'envelope.replyToAddress', details),
    subjectLine: readOverride(content?.subjectLine, 'content.subjectLine', details),
    previewText: readOverride(content?.previewText, 'content.previewText', details),
    values: content?.personalizationDataMap ?? noValues,
    headers: content?.headers && headerRules.read(content.headers, details),
    attributes: emptyMapToUndefined(metadata?.attributes),
    transactional: metadata?.transactional ?? false,
    externalId: emptyToUndefined(metadata?.externalId),
    tag: metadata?.tagList?.[0],
    trackOpens: actions.trackOpens,
    trackClicks: actions.trackClicks,
    deliverWhenDelayed: actions.deliveryWhenDelayed?.toLowerCase() !== 'false',
  };
}

/** Treats an optional `""` as absent. */
function emptyToUndefined(text: string | undefined): string | undefined {
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
  return emptyToUndefined(text.trim());
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
): SubjectOverride | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parseOverride(text);
  if (parsed.ok) return { text, parsed: parsed.override };
  details.push({ field, reason: parsed.reason });
  return undefined;
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
  for (const name of ['subjectLine', 'previewText']) {
    const text = member(content, name);
    if (typeof text === 'string') readOverride(text, `content.${name}`, details);
  }
  const name = member(envelope, 'toDisplayName');
  if (typeof name === 'string') readRecipientName(name, details);
  headerRules.read(readableHeaders(member(content, 'headers')), details);
}
