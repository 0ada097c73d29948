import { readSender } from '../../../accounts/sender/sender-store.ts';
import { Flag, NamedObject, Uuid, Whole } from '../../../base/values/common-schemas.ts';
import { domainOf } from '../../../base/values/email-address.ts';
import type { AccountId, MessageId, TemplateId } from '../../../base/values/ids.ts';
import { newMessageId } from '../../../base/values/ids.ts';
import { contentHashes } from '../../../content/message/attachment.ts';
import {
  type MessageContent,
  recipientsOf,
  type StoredContent,
  withoutSchedule,
} from '../../../content/message/message-content.ts';
import { maxDeliverySeconds } from '../../../content/message/message-state.ts';
import type { StoredMessage } from '../../../content/message/message-status-store.ts';
import { rawSourceOf, rawTemplateId } from '../../../content/message/raw-message.ts';
import { isTestClass } from '../../../content/message/test-class.ts';
import { parseOverride } from '../../../content/template/parse-override.ts';
import { missingFields } from '../../../content/template/template-fields.ts';
import { keepTrialVersion } from '../../../content/template/template-store.ts';
import { revokeGuardedLinks } from '../../../outcomes/guarded-link/guarded-link-store.ts';
import { readMessageHead } from '../../../sending/smtp-submission/read-message-head.ts';
import { readOptionalMailbox } from '../../../sending/smtp-submission/template-submission.ts';
import {
  admissionOf,
  retentionDaysOf,
  type SendAdmission,
  type SendingCaller,
} from '../../../sending/submission/admit-caller.ts';
import { checkSender } from '../../../sending/submission/check-sender.ts';
import { checkMoreSenders } from '../../../sending/submission/send-raw.ts';
import { conflict, forbidden } from '../answer/problem.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';
import { acceptManually } from './accept-manually.ts';
import { requireMessage } from './manage-messages-routes.ts';

const ControlView = NamedObject('ControlResult', {
  changed: Whole('Number of messages changed.'),
  busy: Whole('Messages skipped because they are being sent right now.'),
});

type Action = 'pause' | 'resume' | 'cancel' | 'retry';

const summaries: Readonly<Record<Action, string>> = {
  pause: 'Pause a queued message',
  resume: 'Resume a paused message',
  cancel: 'Cancel an undelivered message',
  retry: 'Retry a queued message now',
};

function controlMessage(action: Action) {
  return defineOperation({
    id: `${action}Message`,
    summary: summaries[action],
    description: 'Idempotent. Messages in a final state don’t change.',
    answer: ControlView,
    async handle(call) {
      const { messageId } = call.params;
      await requireMessage(call);
      const { accountId } = call.params;
      return call.dependencies.controls.control(action, { accountId, messageId }, (transaction) =>
        recordAudit(call, transaction, `message_${action}`, messageId),
      );
    },
  });
}

export const revokeLinks = defineOperation({
  id: 'revokeMessageLinks',
  summary: 'End the guarded links of a message',
  description:
    'Idempotent. The pages of its links say from then on that they no longer work. 409 if the message has no guarded links.',
  conflict: true,
  answer: NamedObject('RevokedLinks', {
    changed: Flag('False if they had ended already.'),
  }),
  async handle(call) {
    const { accountId, messageId } = call.params;
    const { message } = await requireMessage(call);
    if (message.content !== null && message.content.guarded === undefined)
      throw conflict('This message has no guarded links');
    return inTransaction(call, async (transaction) => {
      const changed = await revokeGuardedLinks(transaction, { accountId, messageId });
      if (changed) await recordAudit(call, transaction, 'message_links_revoked', messageId);
      return { changed };
    });
  },
});

export const pauseMessage = controlMessage('pause');
export const resumeMessage = controlMessage('resume');
export const cancelMessage = controlMessage('cancel');
export const retryMessage = controlMessage('retry');

/** True if no value was erased. */
function hasAllValues(content: StoredContent): content is MessageContent {
  return !Object.values(content.values).includes(null);
}

/** True if no value that the template version needs was erased. */
async function isResendable(
  call: OperationCall,
  message: StoredMessage,
  content: StoredContent,
): Promise<boolean> {
  if (message.template_id === rawTemplateId) return rawSourceOf(content) !== undefined;
  const template = await call.dependencies.templates.localized(
    call.params.accountId,
    message.template_id as TemplateId,
    message.template_version,
    content.locale,
  );
  if (template === undefined || !hasAllValues(content)) return false;
  const override = (text: string | undefined) => {
    const parsed = text === undefined ? undefined : parseOverride(text, template.compiled);
    return parsed?.ok === true ? parsed.override : undefined;
  };
  const { subjectLine, previewText } = content;
  const overrides = { subjectLine: override(subjectLine), previewText: override(previewText) };
  return missingFields(template.compiled, content.values, overrides).length === 0;
}

const erasedNames: Readonly<Record<NonNullable<StoredContent['erased']>[number], string>> = {
  attachments: 'attachments',
  attributes: 'attributes',
  headers: 'headers',
  previewText: 'preview text',
  subjectLine: 'subject line',
  values: 'values',
};

/** Such as "its attachments and values were". */
function namesOf(erased: NonNullable<StoredContent['erased']>): string {
  const names = new Intl.ListFormat('en').format(erased.map((name) => erasedNames[name]));
  const [first] = erased;
  const isSingle = erased.length === 1 && (first === 'previewText' || first === 'subjectLine');
  return `its ${names} ${isSingle ? 'was' : 'were'}`;
}

/** The Reply-To address of a message that is resent: a new reply address, or none if replies were erased. */
function ownReplyAddress(
  { replyAddresses }: OperationCall['dependencies'],
  { replyTo, receiveReplies }: Pick<MessageContent, 'replyTo' | 'receiveReplies'>,
  accountId: AccountId,
  messageId: MessageId,
): Pick<MessageContent, 'replyTo'> {
  if (replyTo === undefined || replyAddresses.read(replyTo) === undefined) return {};
  if (receiveReplies !== true) return { replyTo: undefined };
  return { replyTo: replyAddresses.make(accountId, messageId, domainOf(replyTo)) };
}

/**
 * The caller's right to send the message again: its template, or content of no template.
 * @throws Problem if the caller doesn't have it
 */
function requireSender(admission: SendAdmission, { template_id }: StoredMessage): SendingCaller {
  const caller =
    template_id === rawTemplateId
      ? admission.raw
      : admission.mayUse(template_id as TemplateId) && admission;
  if (caller) return caller;
  throw forbidden(
    'Resending a message that isn’t made from a template requires the permission messages:send-content, and any other a key for its template',
  );
}

/** @throws Fault SENDER_NOT_ALLOWED unless whom the message is from is still a verified sender, with its name */
async function requireVerifiedSenders(
  call: OperationCall,
  caller: SendingCaller,
  { template_id }: StoredMessage,
  content: StoredContent,
): Promise<void> {
  const { replyAddresses, attachments } = call.dependencies;
  const { accountId } = call.params;
  const senders = {
    sender: (account: AccountId, address: string) => readSender(call.kysely, account, address),
  };
  const { address, name } = content.from;
  const isOwnAddress =
    content.replyTo !== undefined && replyAddresses.read(content.replyTo) !== undefined;
  const request = {
    from: address,
    fromDisplayName: name,
    replyTo: isOwnAddress ? undefined : content.replyTo,
  };
  await checkSender(senders, caller, request);
  const source = template_id === rawTemplateId ? rawSourceOf(content) : undefined;
  const bytes = source && (await attachments.read(accountId, source.sha256));
  const sender = bytes && readOptionalMailbox(readMessageHead(bytes), 'Sender');
  if (sender !== undefined) await checkMoreSenders(senders, caller, [sender.address]);
}

export const resendMessage = defineOperation({
  id: 'resendMessage',
  summary: 'Resend a message',
  description:
    'Sends a new message with the same content and template version. Also requires `messages:send`, and for a message that isn’t made from a template `messages:send-content`. 409 if any of the content was erased, or the account can’t send it any more: its sender must be verified, and a transactional message needs the add-on.',
  answer: NamedObject('Sent', { messageId: Uuid }),
  status: 201,
  limited: true,
  async handle(call) {
    const granted = await call.requirePermission('messages:send');
    const { message } = await requireMessage(call);
    const right = requireSender(admissionOf(actorOf(call), accountOf(call), granted), message);
    const { account, clientId } = right;
    // A test message stays one, whoever resends it: it was sent without a verified sender.
    const isTest = right.isTest || isTestClass(message.retention_days);
    const caller = { account, clientId, isTest };
    const retentionDays = retentionDaysOf(caller);
    const { content } = message;
    if (content?.erased !== undefined)
      throw conflict(`This message can’t be resent, because ${namesOf(content.erased)} erased`);
    if (content === null || !(await isResendable(call, message, content))) {
      throw conflict(
        `This message can’t be resent, because ${content === null ? 'its content was' : 'some of its values were'} erased`,
      );
    }
    if (message.transactional && !account.addOns.has('transactional'))
      throw conflict(
        'This message is transactional, but the account doesn’t have the transactional add-on. An operator can add it',
      );
    const id = newMessageId();
    await requireVerifiedSenders(call, caller, message, content);
    const templateId = message.template_id as TemplateId;
    const version = { accountId: account.id, templateId, version: message.template_version };
    await keepTrialVersion(call.kysely, version, account.retentionDays);
    // Only the account's present archive address gets copies.
    const archive = content.archive === account.archiveAddress ? content.archive : undefined;
    const { archive: _, ...others } = content;
    const resent = archive === undefined ? others : content;
    const event = { kind: 'message_resent', id: call.params.messageId };
    await acceptManually(call, event, {
      accountId: account.id,
      id,
      retentionDays,
      templateId,
      templateVersion: version.version,
      transactional: message.transactional,
      trackOpens: message.track_opens,
      trackClicks: message.track_clicks,
      deliverWhenDelayed: true,
      newUsage: !isTest,
      externalId: message.external_id ?? undefined,
      tag: message.tag ?? undefined,
      clientId,
      lifetimeSeconds: maxDeliverySeconds,
      recipients: recipientsOf(resent),
      suppressed: [],
      // Where the locale was erased, the default content is sent.
      content: JSON.stringify({
        ...withoutSchedule(resent),
        ...(hasAllValues(content) &&
          call.dependencies.guardedLinks.sealAgain(
            { accountId: account.id, messageId: id, retentionDays },
            content,
          )),
        ...ownReplyAddress(call.dependencies, content, account.id, id),
        variant: content.locale && content.variant,
      }),
      key: undefined,
      attachments: content.attachments && contentHashes(content.attachments),
    });
    return { messageId: id };
  },
});
