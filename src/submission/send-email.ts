import type { Account, Quota } from '../account/account.ts';
import type { EmailAddress } from '../foundation/email-address.ts';
import { Fault, type FaultCode } from '../foundation/errors.ts';
import { type AccountId, parseTemplateId, type TemplateId } from '../foundation/ids.ts';
import { andThen, type MaybePromise } from '../foundation/maybe-promise.ts';
import type { TraceContext } from '../foundation/tracing/trace-context.ts';
import type { TraceSpan } from '../foundation/tracing/tracing.ts';
import { sendBodyBytes } from '../http/limits/route-limits.ts';
import type { RawBody } from '../http/read-body.ts';
import type { MessageContent } from '../message/message-content.ts';
import type { SenderDirectory } from '../sender/sender-directory.ts';
import { matchVariant } from '../template/locale.ts';
import type { SizeBounds } from '../template/size-bounds.ts';
import type { PublishedTemplate, TemplateDirectory } from '../template/template-directory.ts';
import { type AcceptRow, countRecipients } from './accept-row.ts';
import { addArchiveCopy } from './add-archive-copy.ts';
import type { SendAdmission } from './admit-caller.ts';
import {
  type AttachmentSettings,
  attachmentLimitOf,
  type CheckedAttachments,
  checkAttachments,
} from './check-attachments.ts';
import { checkImageSize, measureWithImages } from './check-image-size.ts';
import { checkPersonalization } from './check-personalization.ts';
import { checkRenderedSize } from './check-rendered-size.ts';
import { type CheckedSender, checkSender } from './check-sender.ts';
import {
  type CommitDependencies,
  commitMessage,
  commitWithAttachments,
  findReplay,
  type Receipt,
} from './commit-message.ts';
import {
  type CheckedRequest,
  composeGroup,
  composeRow,
  type MakeReplyAddress,
} from './compose-row.ts';
import {
  hashLargeRequest,
  type IdempotencyKey,
  type IdempotencyLocks,
  readIdempotencyKey,
} from './idempotency.ts';
import type { ReceivingTemplate, SendBodyParser } from './parse-send-body.ts';
import type { QuotaShares } from './quota-shares.ts';
import { type BodyJson, readBodyJson, unusableBody } from './read-body-json.ts';
import { readLargeBodyJson } from './read-large-json.ts';
import { prepareReplies, type ReplyDependencies } from './receive-replies.ts';
import type { RecentTemplateUsage, UsageRecord } from './recent-template-usage.ts';
import type { ParsedSendRequest } from './send-request.ts';
import { traceAccept } from './trace-accept.ts';
import { withTimeout } from './with-timeout.ts';

/** Template data the checks need, in rendered form. */
interface SendableTemplate extends ReceivingTemplate {
  readonly size: SizeBounds;
  /** Max bytes of a message as sent, without attachments. */
  readonly measure: (content: MessageContent, tracked: boolean) => number;
}

export interface SendDependencies extends CommitDependencies, ReplyDependencies {
  readonly senders: Pick<SenderDirectory, 'sender'>;
  readonly templates: Pick<TemplateDirectory<SendableTemplate>, 'published' | 'variant'>;
  readonly parser: SendBodyParser;
  readonly keys: IdempotencyLocks;
  readonly quotas: Pick<QuotaShares, 'spend'>;
  readonly usage: RecentTemplateUsage;
  readonly attachmentSettings: AttachmentSettings;
}

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
 * Checks 4 to 10 of the send operation; the first that fails decides the response. The key (4) is checked by the commit
 * (10) so that accepted requests need no extra query. Refused requests look it up before responding, so a replay or
 * mismatch still takes precedence.
 */
export function sendEmail(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
): Promise<Receipt> {
  return admitted.span === undefined
    ? sendUntraced(dependencies, admitted)
    : traceAccept(
        admitted.span,
        admitted.admission.account.id,
        (span) => sendUntraced(dependencies, admitted, span.context),
        ({ messageId }) => ({ messageId, templateId: admitted.templateText }),
      );
}

function sendUntraced(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
  trace?: TraceContext,
): Promise<Receipt> {
  // Most requests have no key; each async function on their way would keep its variables until the commit.
  return admitted.idempotencyKey === undefined
    ? sendNew(dependencies, admitted, undefined, 0, trace)
    : sendWithKey(dependencies, admitted, trace);
}

async function sendWithKey(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
  trace: TraceContext | undefined,
): Promise<Receipt> {
  const bytes = admitted.body instanceof Buffer ? admitted.body : undefined;
  const { idempotencyKey, templateText, parsed } = admitted;
  const field = parsed && 'idempotencyKey';
  const hash =
    bytes !== undefined && bytes.length > sendBodyBytes && idempotencyKey !== undefined
      ? await hashLargeRequest(templateText, bytes)
      : undefined;
  const key = readIdempotencyKey(idempotencyKey, templateText, bytes, field, hash);
  if (key === undefined) return sendNew(dependencies, admitted, undefined, 0, trace);
  return withKey(dependencies, admitted.admission.account.id, key, (deadline) =>
    sendNew(dependencies, admitted, key, deadline, trace),
  );
}

/**
 * Sends what has an idempotency key, or finds what was sent with it.
 * @param send gets the time until which it can wait for another request with the key
 */
export async function withKey(
  dependencies: Pick<SendDependencies, 'keys' | 'database' | 'acceptor' | 'attachments'>,
  accountId: AccountId,
  key: IdempotencyKey,
  send: (deadline: number) => Promise<Receipt>,
): Promise<Receipt> {
  const deadline = dependencies.keys.deadline();
  const acquiring = dependencies.keys.acquire(accountId, key.text, deadline);
  const release = acquiring instanceof Promise ? await acquiring : acquiring;
  try {
    return await send(deadline);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const replay = await findReplay(dependencies, accountId, key);
    if (replay === undefined) throw error;
    return replay;
  } finally {
    release();
  }
}

async function sendNew(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
  key: IdempotencyKey | undefined,
  deadline: number,
  trace: TraceContext | undefined,
): Promise<Receipt> {
  const checking = checkBeforeCommit(dependencies, admitted, key, trace);
  const message = checking instanceof Promise ? await checking : checking;
  return commitChecked(dependencies, message, deadline);
}

/** A message that passed checks 5 to 8. */
export interface CheckedMessage {
  readonly row: AcceptRow;
  readonly attachments: CheckedAttachments | undefined;
  readonly newUsageRecord: UsageRecord | undefined;
  readonly quota: Quota | undefined;
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
  // 5 template
  const finding = findSendableTemplate(dependencies, admitted.admission, admitted.templateText);
  return andThen(inTime(finding), (found) =>
    checkRequest(dependencies, admitted, found, key, trace),
  );
}

function checkRequest(
  dependencies: SendDependencies,
  admitted: AdmittedRequest,
  found: FoundTemplate,
  key: IdempotencyKey | undefined,
  trace: TraceContext | undefined,
): MaybePromise<CheckedMessage> {
  const { admission } = admitted;
  const { id: accountId, addOns, quota, archiveAddress } = admission.account;
  const { templateId, template } = found;

  // 6 body, add-on included
  if ('unusable' in admitted.body) throw unusableBody(admitted.body.unusable);
  const bodyLength = admitted.body.length;
  const readJson = bodyLength > sendBodyBytes ? readLargeBodyJson : readBodyJson;
  const json = admitted.parsed ?? readJson(admitted.body, admitted.contentType);
  const { compiled } = template.template;
  const read = dependencies.parser.parse(json, addOns.has('transactional'), template.template);
  const request =
    archiveAddress === undefined ? read : addArchiveCopy(read, archiveAddress, compiled);
  const { locale } = request;

  const checkSending = (
    content: SendableTemplate,
    attachments: CheckedAttachments | undefined,
  ): MaybePromise<CheckedMessage> => {
    if (attachments === undefined && content.compiled.images !== undefined)
      checkImageSize(
        content,
        request,
        attachmentLimitOf(admission.account, dependencies.attachmentSettings),
        bodyLength,
      );
    // 7 sender
    return andThen(
      inTime(checkSender(dependencies.senders, accountId, request, template)),
      (sender) =>
        request.receiveReplies === true
          ? prepareReplies(dependencies, accountId, request, sender.from.address).then((address) =>
              compose(content, attachments, sender, address),
            )
          : compose(content, attachments, sender, undefined),
    );
  };

  const compose = (
    content: SendableTemplate,
    attachments: CheckedAttachments | undefined,
    sender: CheckedSender,
    replyAddress: MakeReplyAddress | undefined,
  ): CheckedMessage => {
    // 8 personalization
    checkPersonalization(template.template.compiled, request);
    checkRenderedSize(content, request, bodyLength);

    const newUsageRecord = dependencies.usage.findNewUsage(accountId, templateId, request);
    const composed: CheckedRequest = {
      caller: admission,
      templateId,
      template,
      variant: matchVariant(template.template.compiled, locale),
      request,
      sender,
      key,
      newUsage: newUsageRecord !== undefined,
      attachments,
      trace,
      replyAddress,
    };
    const others = admitted.otherRecipients;
    const row =
      others === undefined
        ? composeRow(composed)
        : composeGroup(
            composed,
            (to) =>
              archiveAddress === undefined
                ? { ...read, to }
                : addArchiveCopy({ ...read, to }, archiveAddress, compiled),
            others,
          );
    return { row, attachments, newUsageRecord, quota };
  };

  const finding =
    locale === undefined ? template.template : findContent(dependencies, accountId, found, locale);
  return andThen(finding, (content) =>
    request.attachments.length === 0
      ? checkSending(content, undefined)
      : checkFiles(dependencies, admission.account, request, content).then((attachments) =>
          checkSending(content, attachments),
        ),
  );
}

/** A lookup of limited duration, unless it is done. */
function inTime<Value>(lookup: MaybePromise<Value>): MaybePromise<Value> {
  return lookup instanceof Promise ? withTimeout(lookup) : lookup;
}

/** Checks 9 suppression and 10 commit. */
export async function commitChecked(
  dependencies: SendDependencies,
  { row, attachments, newUsageRecord, quota }: CheckedMessage,
  deadline = 0,
): Promise<Receipt> {
  const commit =
    attachments === undefined
      ? () => commitMessage(dependencies, row, deadline)
      : () => commitWithAttachments(dependencies, row, deadline, attachments);
  const receipt =
    quota === undefined ? commit() : commitWithinQuota(dependencies, quota, row, commit);
  if (newUsageRecord !== undefined && !(await receipt).replayed)
    dependencies.usage.record(newUsageRecord);
  return receipt;
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
  dependencies: Pick<SendDependencies, 'templates'>,
  admission: SendAdmission,
  templateText: string,
): MaybePromise<FoundTemplate> {
  const templateId = parseTemplateId(templateText);
  if (templateId === undefined || !admission.mayUse(templateId)) throw unknownTemplate();
  const published = dependencies.templates.published(admission.account.id, templateId);
  if (published instanceof Promise)
    return published.then((template) => requireTemplate(templateId, template));
  return requireTemplate(templateId, published);
}

function requireTemplate(
  templateId: TemplateId,
  template: PublishedTemplate<SendableTemplate> | undefined,
): FoundTemplate {
  if (template === undefined) throw unknownTemplate();
  return { templateId, template };
}

/** The content that a locale gets; its fields are those of the version. */
function findContent(
  { templates }: SendDependencies,
  accountId: AccountId,
  { templateId, template }: FoundTemplate,
  locale: string,
): MaybePromise<SendableTemplate> {
  const { version, template: base } = template;
  const variant = templates.variant({ accountId, templateId, version }, base, locale);
  if (variant instanceof Promise) return withTimeout(variant).then((found) => found ?? base);
  return variant ?? base;
}

/** The sender isn't known yet, but headers hardly count. */
function checkFiles(
  { attachmentSettings }: SendDependencies,
  account: Account,
  request: ParsedSendRequest,
  template: SendableTemplate,
): Promise<CheckedAttachments> {
  return checkAttachments(
    request.attachments,
    attachmentLimitOf(account, attachmentSettings),
    attachmentSettings.rules,
    () => measureWithImages(template, request),
  );
}

/** Messages that aren't stored don't count, unless the outcome is unknown (503). */
export async function commitWithinQuota(
  { quotas }: Pick<SendDependencies, 'quotas'>,
  quota: Quota,
  row: AcceptRow,
  commit: () => Promise<Receipt>,
): Promise<Receipt> {
  const refund = await quotas.spend(row.accountId, quota, countRecipients(row));
  try {
    const receipt = await commit();
    if (receipt.replayed) refund();
    return receipt;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'IO_EXCEPTION') refund();
    throw error;
  }
}

function unknownTemplate(): Fault {
  return new Fault('INVALID_ID', {
    details: [{ field: 'templateId', reason: 'is not a published template of this account' }],
  });
}

/** Faults of checks 5 to 9, and the quota fault, which comes between 8 and 9. */
const refusals: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'INVALID_ID',
  'VALIDATION_FAILED',
  'SENDER_NOT_ALLOWED',
  'PERSONALIZATION_FAILURE',
  'QUOTA_EXCEEDED',
  'RECIPIENT_SUPPRESSED',
]);

function isRefusal(error: unknown): boolean {
  return error instanceof Fault && refusals.has(error.code);
}
