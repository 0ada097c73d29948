import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TrackedMessage } from '../../base/values/byte-fields.ts';
import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import { type MessageId, newMessageId, type TemplateId } from '../../base/values/ids.ts';
import { contentHashes } from '../../content/message/attachment.ts';
import {
  bccOf,
  type ContentMembers,
  type MessageContent,
  recipientsOf,
} from '../../content/message/message-content.ts';
import { maxDeliverySeconds } from '../../content/message/message-state.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { hasSecrets } from '../../content/template/secret-names.ts';
import type { AcceptRow } from './accept-row.ts';
import { retentionDaysOf, type SendingCaller } from './admit-caller.ts';
import type { CheckedAttachments } from './check-attachments.ts';
import type { CheckedSender } from './check-sender.ts';
import { retentionClassOf, scheduleMembers, withTiming } from './delivery-timing.ts';
import type { IdempotencyKey } from './idempotency.ts';
import type { ParsedSendRequest } from './send-request.ts';
import type { StatusLink } from './status-link.ts';

/** A request that passed every check. */
export interface CheckedRequest {
  readonly caller: SendingCaller;
  readonly templateId: TemplateId;
  readonly template: { readonly version: number; readonly freshnessSeconds: number };
  /** Undefined for a complete message. */
  readonly compiled?: CompiledTemplate;
  /** The locale of the variant that its locale chooses. */
  readonly variant: string | undefined;
  readonly request: ParsedSendRequest;
  readonly sender: CheckedSender;
  readonly key: IdempotencyKey | undefined;
  readonly newUsage: boolean;
  readonly attachments: CheckedAttachments | undefined;
  readonly trace: TraceContext | undefined;
  /** The subject of a message that isn't made from a template. */
  readonly subject?: string | undefined;
  /** Makes the Reply-To address of a message whose replies are received. */
  readonly replyAddress?: MakeReplyAddress | undefined;
  /** The values of a message with its guarded links sealed, if the version has any. */
  readonly sealLinks?: ((message: TrackedMessage) => Partial<MessageContent>) | undefined;
  readonly status?: StatusLink | undefined;
}

/** A recipient who gets a message of their own, stored with that of the To address. */
export interface OtherRecipient {
  readonly to: EmailAddress;
  readonly toDisplayName?: string | undefined;
  /** The others get theirs if this one is suppressed. */
  readonly optional?: boolean;
}

/** Makes the address that receives the replies to a message. */
export type MakeReplyAddress = (messageId: MessageId) => EmailAddress;

/**
 * Composes the row to store for a checked request, with a copy for each other recipient. Only the first has the key, which
 * stands for all.
 */
export function composeRow(
  checked: CheckedRequest,
  otherRecipients: readonly OtherRecipient[] = [],
): AcceptRow {
  const { caller, compiled } = checked;
  const compose = (own: ParsedSendRequest, isFirst: boolean): AcceptRow =>
    composeMessage(checked, addArchiveCopy(own, caller.account.archiveAddress, compiled), isFirst);
  const copies = otherRecipients.map(({ to, toDisplayName, optional = false }) => ({
    ...compose({ ...checked.request, to, toDisplayName }, false),
    optional,
  }));
  const first = compose(checked.request, true);
  return copies.length === 0 ? first : { ...first, copies };
}

/** All personal data is in one JSON value. @param request with the archive copy */
function composeMessage(
  checked: CheckedRequest,
  request: ParsedSendRequest,
  isFirst: boolean,
): AcceptRow {
  const { caller, template, sender, replyAddress, sealLinks } = checked;
  const id = newMessageId();
  const accountId = caller.account.id;
  const retentionDays = retentionDaysOf(caller);
  const composed = composeContent(
    request,
    replyAddress === undefined ? sender : { from: sender.from, replyTo: replyAddress(id) },
    checked.attachments,
    checked.variant,
    checked.trace,
  );
  const partition = retentionClassOf(retentionDays, request.timing);
  const sealed = sealLinks?.({ accountId, messageId: id, retentionDays: partition });
  const content = sealed ? { ...composed, ...sealed } : composed;
  const row = {
    accountId,
    id,
    retentionDays,
    templateId: checked.templateId,
    templateVersion: template.version,
    transactional: request.transactional,
    trackOpens: request.trackOpens,
    trackClicks: request.trackClicks,
    deliverWhenDelayed: request.deliverWhenDelayed,
    newUsage: isFirst && checked.newUsage,
    externalId: request.externalId,
    tag: request.tag,
    clientId: caller.clientId,
    lifetimeSeconds: request.deliverWhenDelayed ? maxDeliverySeconds : template.freshnessSeconds,
    recipients: recipientsOf(content),
    suppressed: [],
    content: JSON.stringify(
      checked.subject === undefined ? content : { ...content, subjectLine: checked.subject },
    ),
    key: isFirst ? checked.key : undefined,
    attachments: checked.attachments && contentHashes(checked.attachments.infos),
    status: isFirst ? checked.status : undefined,
  };
  return withTiming(row, request.timing);
}

/** All personal data of the message. */
export function composeContent(
  request: ParsedSendRequest,
  sender: CheckedSender,
  attachments: CheckedAttachments | undefined,
  variant?: string,
  trace?: TraceContext,
): ContentMembers {
  return {
    to: request.to,
    toName: request.toDisplayName,
    cc: emptyToUndefined(request.bcc.length === 0 ? request.cc : [...request.cc, ...request.bcc]),
    bccCount: request.bcc.length || undefined,
    archive: request.archive,
    suppressedCc: undefined,
    from: sender.from,
    replyTo: sender.replyTo,
    receiveReplies: request.receiveReplies === true || undefined,
    subjectLine: request.subjectLine?.text,
    previewText: request.previewText?.text,
    locale: request.locale,
    variant,
    attachments: attachments?.infos,
    values: request.values,
    guarded: undefined,
    ...scheduleMembers(request.timing),
    headers: request.headers,
    attributes: request.attributes,
    trace,
  };
}

function emptyToUndefined<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

/**
 * The same message without suppressed Cc, Bcc and archive addresses.
 * @param addresses normalized
 */
export function withoutCc(row: AcceptRow, addresses: readonly string[]): AcceptRow {
  const content = JSON.parse(row.content) as MessageContent;
  const isSuppressed = (address: AcceptRow['recipients'][number]): boolean =>
    addresses.includes(normalizeAddress(address));
  const isLeft = (address: AcceptRow['recipients'][number]): boolean => !isSuppressed(address);
  const suppressed = [...row.suppressed, ...row.recipients.slice(1).filter(isSuppressed)];
  const { cc = [], archive } = content;
  const left = {
    ...content,
    cc: emptyToUndefined(cc.filter(isLeft)),
    bccCount: bccOf(content).filter(isLeft).length || undefined,
    archive: archive !== undefined && isLeft(archive) ? archive : undefined,
    suppressedCc: suppressed,
  };
  return {
    ...row,
    recipients: recipientsOf(left),
    suppressed,
    content: JSON.stringify(left),
  };
}

/**
 * The request with the account's own copy for its archive address if it has one, unless that gets the message anyway or has secret fields, whose
 * values only the recipient may read.
 * @param template undefined for a complete message
 */
function addArchiveCopy(
  request: ParsedSendRequest,
  archiveAddress: EmailAddress | undefined,
  template?: CompiledTemplate,
): ParsedSendRequest {
  if (archiveAddress === undefined) return request;
  const archive = normalizeAddress(archiveAddress);
  const recipients = [request.to, ...request.cc, ...request.bcc];
  if (recipients.some((address) => normalizeAddress(address) === archive)) return request;
  if (template !== undefined && hasSecrets(template, request.values)) return request;
  return { ...request, archive: archiveAddress };
}
