import { Type } from 'typebox';
import { strict, Uuid } from '../../foundation/common-schemas.ts';
import { domainOf } from '../../foundation/email-address.ts';
import type { AccountId, ClientId, MessageId, TemplateId } from '../../foundation/ids.ts';
import { newMessageId } from '../../foundation/ids.ts';
import { contentHashes } from '../../message/attachment.ts';
import {
  type MessageContent,
  recipientsOf,
  type StoredContent,
  withoutSchedule,
} from '../../message/message-content.ts';
import { maxDeliverySeconds } from '../../message/message-state.ts';
import type { StoredMessage } from '../../message/message-status-store.ts';
import { rawSourceOf, rawTemplateId } from '../../message/raw-message.ts';
import { parseOverride } from '../../template/parse-override.ts';
import { missingFields } from '../../template/template-fields.ts';
import { keepTrialVersion } from '../../template/template-store.ts';
import { Problem } from '../answer/problem.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { acceptManually } from './accept-manually.ts';
import { requireMessage } from './manage-messages-routes.ts';

const ControlView = Type.Object(
  {
    changed: Type.Integer({ description: 'Number of messages changed.' }),
    busy: Type.Integer({
      description: 'Messages skipped because they are being sent right now.',
    }),
  },
  { ...strict, title: 'ControlResult' },
);

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
      const { id: accountId } = accountOf(call);
      return call.dependencies.controls.control(action, { accountId, messageId }, (transaction) =>
        recordAudit(call, transaction, `message_${action}`, messageId),
      );
    },
  });
}

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
    accountOf(call).id,
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

export const resendMessage = defineOperation({
  id: 'resendMessage',
  summary: 'Resend a message',
  description:
    'Sends a new message with the same content and template version. 409 if any of the content was erased.',
  answer: Type.Object({ messageId: Uuid }, { ...strict, title: 'Sent' }),
  status: 201,
  limited: true,
  async handle(call) {
    const { message } = await requireMessage(call);
    const account = accountOf(call);
    if (account.suspended) throw new Problem('conflict', 'The account is suspended');
    const { content } = message;
    if (content?.erased !== undefined)
      throw new Problem(
        'conflict',
        `This message can’t be resent, because ${namesOf(content.erased)} erased`,
      );
    if (content === null || !(await isResendable(call, message, content))) {
      throw new Problem(
        'conflict',
        `This message can’t be resent, because ${content === null ? 'its content was' : 'some of its values were'} erased`,
      );
    }
    const templateId = message.template_id as TemplateId;
    const version = { accountId: account.id, templateId, version: message.template_version };
    await keepTrialVersion(call.dependencies.database.kysely, version, account.retentionDays);
    // Only the account's present archive address gets copies.
    const archive = content.archive === account.archiveAddress ? content.archive : undefined;
    const { archive: _, ...others } = content;
    const resent = archive === undefined ? others : content;
    const actor = actorOf(call);
    const id = newMessageId();
    const event = { kind: 'message_resent', id: call.params.messageId };
    await acceptManually(call, event, {
      accountId: account.id,
      id,
      retentionDays: account.retentionDays,
      templateId,
      templateVersion: version.version,
      transactional: message.transactional,
      trackOpens: message.track_opens,
      trackClicks: message.track_clicks,
      deliverWhenDelayed: true,
      newUsage: true,
      externalId: message.external_id ?? undefined,
      tag: message.tag ?? undefined,
      clientId: (actor.kind === 'key' ? actor.keyId : 'console') as ClientId,
      lifetimeSeconds: maxDeliverySeconds,
      recipients: recipientsOf(resent),
      suppressed: [],
      // Where the locale was erased, the default content is sent.
      content: JSON.stringify({
        ...withoutSchedule(resent),
        ...ownReplyAddress(call.dependencies, content, account.id, id),
        variant: content.locale && content.variant,
      }),
      key: undefined,
      attachments: content.attachments && contentHashes(content.attachments),
    });
    return { messageId: id };
  },
});
