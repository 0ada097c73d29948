import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { parseTemplateId, type TemplateId } from '../../base/values/ids.ts';
import {
  andThen,
  type MaybePromise,
  resolved,
  runSteps,
  type Steps,
} from '../../base/values/maybe-promise.ts';
import { withoutReplaced } from '../../content/message/attachment.ts';
import { attachmentPartLength } from '../../content/message/attachment-part.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { matchVariant } from '../../content/template/locale.ts';
import { boundPartBytes, findOversizedPart } from '../../content/template/size-bounds.ts';
import type { PublishedTemplate } from '../../content/template/template-directory.ts';
import { missingFields } from '../../content/template/template-fields.ts';
import { MAX_LIST_ITEMS, MAX_RENDERED_TEXT } from '../../content/template/template-limits.ts';
import { formatBytes, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawBody } from '../../host/http/read-body.ts';
import type { SendAdmission } from './admit-caller.ts';
import { attachmentLimitOf, checkAttachments } from './check-attachments.ts';
import { checkSender } from './check-sender.ts';
import type { CheckedMessage } from './commit-message.ts';
import { composeContent, composeRow } from './compose-row.ts';
import { limitDetails, unusableField, unusableFields } from './describe-body-problems.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { type BodyJson, readBodyJson, unusableBody } from './read-body-json.ts';
import { parseLargeBody } from './read-large-json.ts';
import { prepareReplies } from './receive-replies.ts';
import type { SendableTemplate, SendDependencies } from './send-dependencies.ts';
import type { ParsedSendRequest } from './send-request.ts';
import type { StatusRequest } from './status-link.ts';
import { withTimeout } from './with-timeout.ts';

/** A send request that passed checks 1 to 3. */
export interface AdmittedRequest {
  readonly admission: SendAdmission;
  /** Template id from the path. */
  readonly templateText: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: unknown;
  /** The key of a message that the service sends for a row of an outbox, instead of a caller's. */
  readonly rowKey?: IdempotencyKey | undefined;
  readonly body: RawBody;
  /** For a message of a batch: its parsed body, without the key. */
  readonly parsed?: BodyJson;
  /** Of its request, if that is traced. */
  readonly span?: TraceSpan | undefined;
  /** Each gets a message of its own, stored with that of the To address or not at all. */
  readonly otherRecipients?: readonly EmailAddress[] | undefined;
}

/**
 * Checks 5 to 8. Unless something must be read or decoded first, it is done when this returns.
 * @throws Fault of the first check that fails
 */
export function checkBeforeCommit(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
  key?: IdempotencyKey,
  trace?: TraceContext,
  onParsed?: OnParsed,
): MaybePromise<CheckedMessage> {
  return runSteps(checks(dependencies, admitted, key, trace, onParsed));
}

/** Told what a body asks for, once it is parsed. */
export type OnParsed = (status: StatusRequest | undefined) => void;

/** The contract's checks in its order: a lookup waits only where no cache has the answer. */
function* checks(
  dependencies: SendDependencies,
  { admission, templateText, contentType, body, parsed, otherRecipients }: AdmittedRequest,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
  onParsed: OnParsed | undefined,
): Steps<CheckedMessage> {
  const { senders, templates, parser, usage, attachmentSettings, guardedLinks } = dependencies;
  const { account } = admission;

  // 5 template
  const finding = findSendableTemplate(dependencies, admission, templateText);
  const { templateId, template } = yield* resolved(withTimeout(finding));
  const { template: base, version } = template;
  const { compiled } = base;

  // 6 body, add-on included
  if ('unusable' in body) throw unusableBody(body.unusable);
  const parse = body.length > sendBodyBytes ? parseLargeBody : undefined;
  const json = parsed ?? readBodyJson(body, contentType, parse);
  const request = parser.parse(json, account.addOns.has('transactional'), base);
  onParsed?.(request.status);
  const { locale } = request;
  const { guards } = compiled;
  const measured =
    guards === undefined
      ? request
      : { ...request, values: guardedLinks.standIns(guards, request.values) };
  const limit = attachmentLimitOf(account, attachmentSettings);
  /** The content that the locale gets; its fields are those of the version. */
  const content: SendableTemplate =
    locale === undefined
      ? base
      : ((yield* resolved(
          withTimeout(
            templates.variant({ accountId: account.id, templateId, version }, base, locale),
          ),
        )) ?? base);
  const attachments =
    request.attachments.length === 0
      ? undefined
      : yield* resolved(
          checkAttachments(request.attachments, limit, attachmentSettings.rules, () =>
            measureWithImages(content, measured),
          ),
        );
  if (attachments === undefined && content.compiled.images !== undefined)
    checkImageSize(content, measured, limit, body.length);

  // 7 sender
  const sender = yield* resolved(withTimeout(checkSender(senders, admission, request, template)));
  const replyAddress =
    request.receiveReplies === true
      ? yield* resolved(prepareReplies(dependencies, account.id, request, sender.from.address))
      : undefined;

  // 8 personalization
  checkPersonalization(compiled, request);
  checkRenderedSize(content, measured, body.length);

  const locales = [locale, content.compiled.locale];
  const newUsageRecord = admission.isTest
    ? undefined
    : usage.findNewUsage(account.id, templateId, request);
  const row = composeRow(
    {
      caller: admission,
      templateId,
      template,
      compiled,
      variant: matchVariant(compiled, locale),
      request,
      sender,
      key,
      newUsage: newUsageRecord !== undefined,
      attachments,
      trace,
      replyAddress,
      sealLinks:
        guards && ((message) => guardedLinks.seal(message, guards, locales, request.values)),
      status: dependencies.statusLinks.for(account.id, request.status),
    },
    otherRecipients?.map((to) => ({ to })),
  );
  return { row, attachments, newUsageRecord, quota: account.quota };
}

interface FoundTemplate {
  readonly templateId: TemplateId;
  readonly template: PublishedTemplate<SendableTemplate>;
}

/**
 * Check 5.
 * @throws Fault INVALID_ID if the template is unknown, unpublished or not the caller's to send with
 */
export function findSendableTemplate(
  { templates }: Pick<SendDependencies, 'templates'>,
  admission: SendAdmission,
  templateText: string,
): MaybePromise<FoundTemplate> {
  const templateId = parseTemplateId(templateText);
  if (templateId === undefined || !admission.mayUse(templateId)) throw unknownTemplate();
  return andThen(templates.published(admission.account.id, templateId), (template) => {
    if (template === undefined) throw unknownTemplate();
    return { templateId, template };
  });
}

function unknownTemplate(): Fault {
  return new Fault('INVALID_ID', {
    details: [{ field: 'templateId', reason: 'is not a published template of this account' }],
  });
}

/**
 * Section 4.3 rule 3: every field needs a value in the request or a default in the template. An overridden subject line
 * or preview text replaces the template's fields with its own.
 * @throws Fault PERSONALIZATION_FAILURE naming each missing field
 */
function checkPersonalization(template: CompiledTemplate, request: ParsedSendRequest): void {
  const missing = missingFields(template, request.values, {
    subjectLine: request.subjectLine?.parsed,
    previewText: request.previewText?.parsed,
  });
  if (missing.length === 0) return;
  const details = missing.map((name) => ({
    field: `content.personalizationDataMap.${name}`,
    reason: 'has no value, and the template gives no default',
  }));
  throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
}

/**
 * Rejects values certain to make the message too large, because after the 200 the caller would not find out.
 * @param bodyLength size of the request body in bytes, values included
 * @throws Fault VALIDATION_FAILED naming the largest field
 */
function checkRenderedSize(
  template: SendableTemplate,
  { values }: ParsedSendRequest,
  bodyLength: number,
): void {
  const found = findOversizedPart(template.compiled, template.size, values, bodyLength);
  if (found === undefined) return;
  const { part, field, uses, structured } = found;
  const advice = structured
    ? 'send fewer items or shorter values'
    : `the template uses it ${uses} times; send a shorter value`;
  const detail =
    field === undefined
      ? { field: 'templateId', reason: `its ${part} is larger than ${MAX_RENDERED_TEXT}` }
      : {
          field: `content.personalizationDataMap.${field}`,
          reason: `makes the ${part} larger than ${MAX_RENDERED_TEXT}: ${advice}`,
        };
  throw unusableFields([detail]);
}

/** Two parts, each encoded with up to three characters for a byte and soft line breaks. */
const maxEncodedParts = 2 * 3.2;
/** Headers, custom ones included, and the outer parts. */
const maxHeaderBytes = 64 * 1_024;
/** Characters that a tracking link adds. */
const maxLinkBytes = 1_024;

/**
 * Bytes of the message as sent without the request's attachments. The sender isn't known yet, but headers hardly count.
 */
function measureWithImages(template: SendableTemplate, request: ParsedSendRequest): number {
  const from = { address: request.to };
  const content = composeContent(request, { from, replyTo: request.replyTo }, undefined);
  const rest = template.measure(content, request.trackOpens || request.trackClicks);
  return rest + imageBytes(template, request);
}

/**
 * Rejects a message that is larger than the account's limit only because of its template's images. Messages of ordinary
 * size aren't rendered for this.
 * @param limit max bytes of a message with attachments as sent; 0, which is for requests alone, doesn't count
 * @throws Fault VALIDATION_FAILED
 */
function checkImageSize(
  template: SendableTemplate,
  request: ParsedSendRequest,
  limit: number,
  bodyLength: number,
): void {
  if (limit === 0) return;
  const { compiled, size } = template;
  const partBytes = boundPartBytes(compiled, size, request.values, bodyLength);
  const links = request.trackClicks ? compiled.links.length * maxLinkBytes : 0;
  const linkBytes = size.perItem === undefined ? links : links * MAX_LIST_ITEMS;
  const bound =
    imageBytes(template, request) + (partBytes + linkBytes) * maxEncodedParts + maxHeaderBytes;
  if (bound <= limit || measureWithImages(template, request) <= limit) return;
  const reason = `its images make the message larger than ${formatBytes(limit)} as sent; publish it with smaller images, or send shorter values`;
  throw unusableField('templateId', reason);
}

function imageBytes(
  { compiled: { images = [] } }: SendableTemplate,
  { attachments }: ParsedSendRequest,
): number {
  return withoutReplaced(images, attachments).reduce(
    (sum, image) => sum + attachmentPartLength(image),
    0,
  );
}
