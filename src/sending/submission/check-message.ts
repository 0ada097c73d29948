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
import { matchVariant } from '../../content/template/locale.ts';
import type { PublishedTemplate } from '../../content/template/template-directory.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawBody } from '../../host/http/read-body.ts';
import type { SendAdmission } from './admit-caller.ts';
import { attachmentLimitOf, checkAttachments } from './check-attachments.ts';
import { checkImageSize, measureWithImages } from './check-image-size.ts';
import { checkPersonalization } from './check-personalization.ts';
import { checkRenderedSize } from './check-rendered-size.ts';
import { checkSender } from './check-sender.ts';
import type { CheckedMessage } from './commit-message.ts';
import { composeRow } from './compose-row.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { type BodyJson, readBodyJson, unusableBody } from './read-body-json.ts';
import { parseLargeBody } from './read-large-json.ts';
import { prepareReplies } from './receive-replies.ts';
import type { SendableTemplate, SendDependencies } from './send-dependencies.ts';
import { withTimeout } from './with-timeout.ts';

/** A send request that passed checks 1 to 3. */
export interface AdmittedRequest {
  readonly admission: SendAdmission;
  /** Template id from the path. */
  readonly templateText: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: unknown;
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
): MaybePromise<CheckedMessage> {
  return runSteps(checks(dependencies, admitted, key, trace));
}

/** The contract's checks in its order: a lookup waits only where no cache has the answer. */
function* checks(
  dependencies: SendDependencies,
  { admission, templateText, contentType, body, parsed, otherRecipients }: AdmittedRequest,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
): Steps<CheckedMessage> {
  const { senders, templates, parser, usage, attachmentSettings } = dependencies;
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
  const { locale } = request;
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
            measureWithImages(content, request),
          ),
        );
  if (attachments === undefined && content.compiled.images !== undefined)
    checkImageSize(content, request, limit, body.length);

  // 7 sender
  const sender = yield* resolved(withTimeout(checkSender(senders, account.id, request, template)));
  const replyAddress =
    request.receiveReplies === true
      ? yield* resolved(prepareReplies(dependencies, account.id, request, sender.from.address))
      : undefined;

  // 8 personalization
  checkPersonalization(compiled, request);
  checkRenderedSize(content, request, body.length);

  const newUsageRecord = usage.findNewUsage(account.id, templateId, request);
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
    },
    otherRecipients,
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
