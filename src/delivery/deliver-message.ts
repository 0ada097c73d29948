import { domainOf } from '../foundation/email-address.ts';
import { TurnQueue } from '../foundation/fair-queue.ts';
import type { Log } from '../foundation/log.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import type { AttachmentInfo } from '../message/attachment.ts';
import {
  archiveNumber,
  hiddenOf,
  type MessageContent,
  readContent,
  recipientsOf,
  secretFieldsOf,
} from '../message/message-content.ts';
import { rawSourceOf, rawTemplateId } from '../message/raw-message.ts';
import { isScheduledClass } from '../message/scheduled-class.ts';
import type {
  Attempt,
  AttemptResult,
  ClaimedMessage,
  Lease,
  RecipientResult,
} from '../queue/attempt.ts';
import type { EncodedAttachment } from '../rendering/compose-attachments.ts';
import { secretNamesOf } from '../template/secret-names.ts';
import { admitLater, admitMail, postponeMessage, reportBacklogs } from './admit-mail.ts';
import { postponedResult, resultForAll } from './attempt-results.ts';
import type { CheckDue, DueMessage } from './check-due-message.ts';
import type { DeferBacklog } from './defer-backlog.ts';
import {
  checkMessage,
  findSendingIdentity,
  resultWithoutEnvelope,
  selectRecipients,
  waitForSender,
} from './delivery-gates.ts';
import type { AttachmentLoader } from './load-attachments.ts';
import {
  type DecorateMail,
  type FindVersion,
  type PreparedMail,
  prepareMail,
} from './prepare-mail.ts';
import { prepareRawMail } from './prepare-raw-mail.ts';
import { type PreparedTransaction, prepareTransaction } from './prepare-transaction.ts';
import type { StagingRules } from './route-recipients.ts';
import { sendMessage } from './send-message.ts';
import type { FindIdentity } from './sending-identity.ts';
import { withImages } from './template-images.ts';
import { tracePart } from './trace-attempt.ts';
import type { SendingAdmission, Transport } from './transport.ts';

export interface DeliveryDependencies {
  readonly findVersion: FindVersion;
  readonly transport: Transport;
  readonly staging: StagingRules;
  readonly decorate?: DecorateMail | undefined;
  readonly log: Log;
  /** Called when a destination has too many deferred messages to check individually. */
  readonly deferBacklog?: DeferBacklog | undefined;
  /** Looks up the sender's identity. Without it, mail is unsigned and the sender is the return path. */
  readonly findIdentity?: FindIdentity;
  /** Checks scheduled messages at their send time. Without it, they are sent as accepted. */
  readonly checkDue?: CheckDue | undefined;
  /** Without it, messages with attachments can't be sent. */
  readonly attachments?: AttachmentLoader;
}

/**
 * Creates the function that sends one claimed message: render, route, one SMTP transaction, one result per recipient.
 */
export function createDelivery(dependencies: DeliveryDependencies): Attempt {
  // Messages are claimed in batches; rendering and signing a whole batch at once would leave connections idle.
  const turns = new TurnQueue();
  return async (message, lease) => {
    const accepted = readContent(message.content);
    if (accepted === undefined)
      return resultForAll(message, 'canceled', 'its content has been erased');
    const due = await checkScheduled(dependencies.checkDue, message, lease, accepted);
    if (due === undefined) return undefined;
    const { content, templateVersion } = due;
    if (message.templateId === rawTemplateId)
      return deliverRaw(dependencies, message, lease, due, turns);
    const template = await dependencies.findVersion(
      message.accountId,
      message.templateId,
      templateVersion,
      content.locale,
    );
    if (template === undefined)
      return (
        checkMessage(message, lease) ??
        resultForAll(message, 'failed', 'its template version no longer exists')
      );
    const secretFields = secretFieldsOf(content, secretNamesOf(template.compiled));
    if (due.result !== undefined) return { ...due.result, secretFields };
    const rendered =
      templateVersion === message.templateVersion ? message : { ...message, templateVersion };
    const redirected = dependencies.staging.redirect !== undefined;
    const render = async (form: MailForm, attached?: readonly EncodedAttachment[]) => {
      const decorated = dependencies.decorate?.(asForm(rendered, form), content, template);
      const decoration = decorated instanceof Promise ? await decorated : decorated;
      return turns.run(message.accountId, () =>
        tracePart(message, 'render', () =>
          prepareMail(rendered, content, template, redirected, decoration, attached),
        ),
      );
    };
    const attachments = withImages(content.attachments, template.compiled.images);
    const result =
      attachments === undefined
        ? await deliver(dependencies, message, lease, due, render)
        : await deliverAttached(
            dependencies,
            message,
            lease,
            due,
            attachments,
            async (form, loader) => render(form, await loader.load(message.accountId, attachments)),
          );
    return result && { ...result, secretFields };
  };
}

/** What a mail is for: the recipients of the request, or the account's own copy. */
type MailForm = 'recipients' | 'archive';

type PrepareForm = (form: MailForm) => Promise<PreparedMail>;

/** The archive's copy has nothing that acts for To: no tracking and no unsubscribe link, as in mail that offers none. */
function asForm(message: ClaimedMessage, form: MailForm): ClaimedMessage {
  return form === 'recipients'
    ? message
    : { ...message, transactional: true, trackOpens: false, trackClicks: false };
}

/** Only scheduled messages are checked again, unless they won't be sent anyway. */
function checkScheduled(
  checkDue: CheckDue | undefined,
  message: ClaimedMessage,
  lease: Lease,
  content: MessageContent,
): MaybePromise<DueMessage | undefined> {
  if (
    checkDue !== undefined &&
    isScheduledClass(message.retentionDays) &&
    checkMessage(message, lease) === undefined
  )
    return checkDue(message, content);
  return { content, templateVersion: message.templateVersion, suppressed: noResults };
}

const noResults: readonly RecipientResult[] = Object.freeze([]);

const memoryRetryMs = 1_000;

/** Delivers a message with attachments once there is memory for it, which it holds until it is sent. */
async function deliverAttached(
  dependencies: DeliveryDependencies,
  message: ClaimedMessage,
  lease: Lease,
  due: DueMessage,
  attachments: readonly AttachmentInfo[],
  prepare: (form: MailForm, loader: AttachmentLoader) => Promise<PreparedMail>,
): Promise<AttemptResult | undefined> {
  const refused = checkMessage(message, lease);
  if (refused !== undefined) return refused;
  const { accountId } = message;
  const loader = dependencies.attachments;
  if (loader === undefined) throw new Error('no attachments can be loaded');
  const release = await loader.reserve(accountId, attachments, message.remainingMs <= 0);
  if (release === undefined)
    return postponedResult(message, memoryRetryMs, 'many messages with attachments are being sent');
  try {
    return await deliver(dependencies, message, lease, due, (form) => prepare(form, loader));
  } finally {
    release();
  }
}

/** Delivers a message that was submitted complete. */
async function deliverRaw(
  dependencies: DeliveryDependencies,
  message: ClaimedMessage,
  lease: Lease,
  due: DueMessage,
  turns: TurnQueue,
): Promise<AttemptResult | undefined> {
  if (due.result !== undefined) return due.result;
  const { content } = due;
  const source = rawSourceOf(content);
  if (source === undefined) return resultForAll(message, 'canceled', 'its content has been erased');
  const redirected = dependencies.staging.redirect !== undefined;
  return deliverAttached(dependencies, message, lease, due, [source], async (form, loader) => {
    const decoration = await dependencies.decorate?.(asForm(message, form), content, undefined);
    const bytes = await loader.loadSource(message.accountId, source);
    return turns.run(message.accountId, () =>
      tracePart(message, 'render', () =>
        prepareRawMail(content, bytes, redirected, decoration ?? {}, {
          group: message.accountId,
          patient: true,
        }),
      ),
    );
  });
}

async function deliver(
  { transport, staging, deferBacklog, findIdentity, log }: DeliveryDependencies,
  message: ClaimedMessage,
  lease: Lease,
  { content, suppressed }: DueMessage,
  prepare: PrepareForm,
): Promise<AttemptResult | undefined> {
  const refused = checkMessage(message, lease);
  if (refused !== undefined) return refused;
  const { from } = content;
  const recipients = recipientsOf(content);
  const selection = selectRecipients(message, recipients, staging, suppressed);
  const { envelope, redirected } = selection.route;
  if (envelope.size === 0) return resultWithoutEnvelope(message, selection);
  const identity = await findSendingIdentity(findIdentity, message, from.address, envelope.size);
  if ('problem' in identity) return waitForSender(message, identity);
  const outline = {
    to: [...envelope.keys()],
    fromDomain: domainOf(from.address),
    urgent: message.transactional,
    pool: identity.pool,
  };
  const admit = () => admitMail(transport, outline, hiddenOf(content));
  const postpone = (waiting: SendingAdmission): AttemptResult => {
    identity.release?.(envelope.size);
    return postponeMessage(message, waiting, selection);
  };
  let admission = await admit();
  if (deferBacklog !== undefined && !redirected) reportBacklogs(deferBacklog, message, admission);
  if (admission.transactions.length === 0) return postpone(admission);
  // Complete messages may wait for a thread, and the slots of their destinations mustn't wait with them.
  const isRaw = message.templateId === rawTemplateId;
  const cancel = (): void => {
    for (const transaction of admission.transactions) transaction.cancel();
  };
  if (isRaw) cancel();
  const archive = archiveNumber(content);
  const isArchive = (first: number): boolean => first === archive;
  const forms = new Map<MailForm, PreparedTransaction>();
  for (const [first = 0] of envelope.values()) {
    const form = isArchive(first) ? 'archive' : 'recipients';
    if (forms.has(form)) continue;
    const prepared = await prepareTransaction(message, () => prepare(form), identity, log);
    if ('results' in prepared) {
      if (!isRaw) cancel();
      identity.release?.(envelope.size);
      return prepared;
    }
    forms.set(form, prepared);
  }
  if (isRaw) admission = await admit();
  if (admission.transactions.length === 0) return postpone(admission);
  const admitRest = (to: readonly string[]) => admitLater(transport, { ...outline, to });
  return await sendMessage(
    {
      message,
      lease: withDeadline(message, lease),
      recipients,
      selection,
      admission,
      admitRest,
      identity,
    },
    (first) => forms.get(isArchive(first) ? 'archive' : 'recipients'),
  );
}

/** Refuses the final dot after the message's deadline. Its lease then ends, and the next claim marks it as expired. */
function withDeadline(message: ClaimedMessage, lease: Lease): Lease {
  const { deadlineAt } = message;
  if (deadlineAt === undefined) return lease;
  return {
    ...lease,
    markDot: () => (performance.now() < deadlineAt ? lease.markDot() : Promise.resolve(false)),
  };
}
