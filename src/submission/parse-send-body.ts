import { Ajv, type ValidateFunction } from 'ajv';
import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { Fault, type FaultDetail } from '../foundation/errors.ts';
import { maxCc } from '../message/message-content.ts';
import { StructureChecker } from '../template/check-structures.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import { describeReadable } from '../template/field-format.ts';
import type { FieldIndex } from '../template/field-index.ts';
import type { GivenValues } from '../template/field-value.ts';
import { parseOverride } from '../template/parse-override.ts';
import { findUnreadable } from '../template/template-fields.ts';
import { readTiming } from './delivery-timing.ts';
import { describeBodyProblems, limitDetails } from './describe-body-problems.ts';
import type { BodyJson } from './read-body-json.ts';
import { type SendBody, textBodySchema } from './send-body-schema.ts';
import type { ParsedSendRequest, SubjectOverride } from './send-request.ts';

const noValues: GivenValues = Object.freeze({});

/** What the body depends on: the lists and objects of the template, and how its markup is read. */
export interface ReceivingTemplate {
  readonly compiled: CompiledTemplate;
  readonly index: FieldIndex;
  readonly structured: FieldIndex | undefined;
}

/**
 * Validates the send body (section 2.2, limits of section 8) and converts it to a typed request. Compiled once; keep
 * one instance for the life of the service.
 */
export class SendBodyParser {
  readonly #validate: ValidateFunction<SendBody<string>>;
  readonly #now: () => number;

  /** @param now the time that send times are compared with, in milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    // No coercion or defaults: a number in place of a string is a caller error.
    this.#validate = new Ajv({ allErrors: true, strict: true }).compile<SendBody<string>>(
      textBodySchema,
    );
  }

  /**
   * @param body an empty `personalizationDataMap` list is removed from its value
   * @param transactionalAllowed the account has the transactional add-on
   * @param template undefined: all values are texts
   * @throws Fault VALIDATION_FAILED with every problem found
   */
  parse(
    { value, problems }: BodyJson,
    transactionalAllowed: boolean,
    template?: ReceivingTemplate,
  ): ParsedSendRequest {
    dropEmptyMap(value);
    const structures =
      template?.structured === undefined ? undefined : detachStructures(value, template.structured);
    const validate = this.#validate;
    if (validate(value)) {
      const details: FaultDetail[] = [...problems, ...(structures?.problems ?? noProblems)];
      const request = toRequest(value, this.#now, details, template?.compiled, structures?.attach());
      if (template !== undefined && details.length === 0) addUnreadable(template, request, details);
      if (request.transactional && !transactionalAllowed) details.push(missingAddOn);
      if (details.length > 0) throw invalidBody(details);
      return request;
    }
    const details = [
      ...problems,
      ...describeBodyProblems(validate.errors ?? []),
      ...(structures?.problems ?? noProblems),
    ];
    addTextProblems(value, details, template?.compiled);
    readTiming(actionsOf(value), this.#now, details);
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

const noProblems: readonly FaultDetail[] = Object.freeze([]);

/** The lists and objects of a map, taken out of it so that the rest is checked as texts. */
interface DetachedStructures {
  readonly problems: readonly FaultDetail[];
  /** The whole map again, in the order of the request; undefined: it has no lists or objects. */
  attach(): GivenValues | undefined;
}

function detachStructures(value: unknown, structured: FieldIndex): DetachedStructures | undefined {
  const map = member(member(value, 'content'), 'personalizationDataMap');
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return undefined;
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

/** The actions of a body that violates the schema. */
function actionsOf(value: unknown): Readonly<Record<string, unknown>> {
  const actions = member(value, 'actions');
  return typeof actions === 'object' && actions !== null
    ? (actions as Readonly<Record<string, unknown>>)
    : {};
}

function toRequest(
  body: SendBody<string>, now: () => number, details: FaultDetail[],
  template: CompiledTemplate | undefined,
  structured: GivenValues | undefined,
): ParsedSendRequest {
  const { envelope, content, metadata, actions } = body;
  return {
    to: readAddress(envelope.toAddress, 'envelope.toAddress', details),
    cc: readCc(envelope.ccAddressList, details),
    from: readOptionalAddress(envelope.fromAddress, 'envelope.fromAddress', details),
    fromDisplayName: emptyToUndefined(envelope.fromDisplayName),
    replyTo: readOptionalAddress(envelope.replyToAddress, 'envelope.replyToAddress', details),
    subjectLine: readOverride(content?.subjectLine, 'content.subjectLine', details, template),
    previewText: readOverride(content?.previewText, 'content.previewText', details, template),
    values: structured ?? content?.personalizationDataMap ?? noValues,
    structured: structured !== undefined,
    transactional: metadata?.transactional ?? false,
    externalId: emptyToUndefined(metadata?.externalId),
    tag: metadata?.tagList?.[0],
    trackOpens: actions.trackOpens,
    trackClicks: actions.trackClicks,
    deliverWhenDelayed: actions.deliveryWhenDelayed?.toLowerCase() !== 'false',
    timing: readTiming(actions, now, details),
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
  template: CompiledTemplate | undefined,
): SubjectOverride | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parseOverride(text, template);
  if (parsed.ok) return { text, parsed: parsed.override };
  details.push({ field, reason: parsed.reason });
  return undefined;
}

/** Adds text problems of correctly placed strings to the errors of a body that violates the schema. */
function addTextProblems(
  value: unknown,
  details: FaultDetail[],
  template: CompiledTemplate | undefined,
): void {
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
    if (typeof text === 'string') readOverride(text, `content.${name}`, details, template);
  }
}
