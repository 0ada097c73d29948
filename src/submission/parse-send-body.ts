import { Ajv, type ValidateFunction } from 'ajv';
import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { Fault, type FaultDetail } from '../foundation/errors.ts';
import { maxCc } from '../message/message-content.ts';
import { parseOverride } from '../template/parse-override.ts';
import { describeBodyProblems, limitDetails } from './describe-body-problems.ts';
import { readAttachments } from './read-attachments.ts';
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

  constructor() {
    // No coercion or defaults: a number in place of a string is a caller error.
    this.#validate = new Ajv({ allErrors: true, strict: true }).compile<SendBody>(sendBodySchema);
  }

  /**
   * @param body an empty `personalizationDataMap` list is removed from its value
   * @param transactionalAllowed the account has the transactional add-on
   * @throws Fault VALIDATION_FAILED with every problem found
   */
  parse({ value, problems, contents }: BodyJson, transactionalAllowed: boolean): ParsedSendRequest {
    dropEmptyMap(value);
    const validate = this.#validate;
    if (validate(value)) {
      const details: FaultDetail[] = [...problems];
      const request = toRequest(value, contents, details);
      if (request.transactional && !transactionalAllowed) details.push(missingAddOn);
      if (details.length > 0) throw invalidBody(details);
      return request;
    }
    const details = [...problems, ...describeBodyProblems(validate.errors ?? [])];
    addTextProblems(value, details);
    if (member(member(value, 'metadata'), 'transactional') === true && !transactionalAllowed)
      details.push(missingAddOn);
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

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Treats `personalizationDataMap: []` as absent: PHP clients encode an empty map that way. */
function dropEmptyMap(value: unknown): void {
  const content = member(value, 'content');
  const map = member(content, 'personalizationDataMap');
  if (Array.isArray(map) && map.length === 0)
    delete (content as Record<string, unknown>).personalizationDataMap;
}

function toRequest(
  body: SendBody,
  contents: BodyJson['contents'],
  details: FaultDetail[],
): ParsedSendRequest {
  const { envelope, content, metadata, actions } = body;
  return {
    to: readAddress(envelope.toAddress, 'envelope.toAddress', details),
    cc: readCc(envelope.ccAddressList, details),
    from: readOptionalAddress(envelope.fromAddress, 'envelope.fromAddress', details),
    fromDisplayName: emptyToUndefined(envelope.fromDisplayName),
    replyTo: readOptionalAddress(envelope.replyToAddress, 'envelope.replyToAddress', details),
    subjectLine: readOverride(content?.subjectLine, 'content.subjectLine', details),
    previewText: readOverride(content?.previewText, 'content.previewText', details),
    attachments: readAttachments(content?.attachments, contents, details),
    values: content?.personalizationDataMap ?? noValues,
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

const noCc: readonly EmailAddress[] = Object.freeze([]);

function readCc(
  list: readonly string[] | undefined,
  details: FaultDetail[],
): readonly EmailAddress[] {
  if (list === undefined || list.length === 0) return noCc;
  return list.map((text, index) => readAddress(text, `envelope.ccAddressList[${index}]`, details));
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

/** Adds text problems of correctly placed strings to the errors of a body that violates the schema. */
function addTextProblems(value: unknown, details: FaultDetail[]): void {
  const envelope = member(value, 'envelope');
  for (const name of ['toAddress', 'fromAddress', 'replyToAddress']) {
    const text = member(envelope, name);
    if (typeof text !== 'string' || (text === '' && name !== 'toAddress')) continue;
    readAddress(text, `envelope.${name}`, details);
  }
  const cc = member(envelope, 'ccAddressList');
  if (Array.isArray(cc)) {
    cc.slice(0, maxCc).forEach((text: unknown, index) => {
      if (typeof text === 'string') readAddress(text, `envelope.ccAddressList[${index}]`, details);
    });
  }
  const content = member(value, 'content');
  for (const name of ['subjectLine', 'previewText']) {
    const text = member(content, name);
    if (typeof text === 'string') readOverride(text, `content.${name}`, details);
  }
}
