import { TurnQueue } from '../../base/fairness/fair-queue.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { Log } from '../../base/values/log.ts';
import type { AttachmentInfo } from '../../content/message/attachment.ts';
import {
  archiveNumber,
  erasedAddress,
  type MessageContent,
  readContent,
  recipientsOf,
  secretFieldsOf,
} from '../../content/message/message-content.ts';
import { rawSourceOf, rawTemplateId } from '../../content/message/raw-message.ts';
import { isScheduledClass } from '../../content/message/scheduled-class.ts';
import { secretNamesOf } from '../../content/template/secret-names.ts';
import type { Attempt, AttemptResult, ClaimedMessage, Lease } from '../queue/attempt.ts';
import {
  checkMessage,
  checkRecipient,
  postponedResult,
  postponeOrExpire,
  resultOf,
  type StagingRules,
  waitForSender,
} from './attempt-results.ts';
import type { CheckDue } from './check-due-message.ts';
import type { DeferBacklog } from './defer-backlog.ts';
import type { FindIdentity } from './find-identity.ts';
import { type AttachmentLoader, withImages } from './load-attachments.ts';
import {
  type DecorateMail,
  type FindVersion,
  type PreparedMail,
  prepareMail,
} from './prepare-mail.ts';
import { prepareRawMail } from './prepare-raw-mail.ts';
import { prepareTransaction, sendTransaction } from './send-transaction.ts';
import { tracePart } from './trace-attempt.ts';
import type { Postponement, Transport } from './transport.ts';

export interface DeliveryDependencies {
  readonly findVersion: FindVersion;
  readonly transport: Transport;
  readonly staging: StagingRules;
  readonly decorate: DecorateMail;
  readonly log: Log;
  /** Called when a destination has too many deferred messages to check individually. */
  readonly deferBacklog: DeferBacklog;
  readonly findIdentity: FindIdentity;
  /** Checks scheduled messages at their send time. */
  readonly checkDue: CheckDue;
  readonly attachments: AttachmentLoader;
}

/** What a claimed message has become when it is due. */
interface Delivery {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly content: MessageContent;
  /** Of its recipient. */
  readonly address: EmailAddress;
  readonly prepare: () => Promise<PreparedMail>;
}

const memoryRetryMs = 1_000;

/** Creates the function that sends one claimed message: render, sign, one SMTP transaction. */
export function createDelivery(dependencies: DeliveryDependencies): Attempt {
  const { transport, staging, decorate, log, deferBacklog, attachments: loader } = dependencies;
  const redirects = staging.redirect !== undefined;
  // Messages are claimed in batches; rendering and signing a whole batch at once would leave connections idle.
  const turns = new TurnQueue();
  const render = <Result>(message: ClaimedMessage, run: () => Result) =>
    turns.run(message.accountId, () => tracePart(message, 'render', run));

  /** Delivers a message with attachments once there is memory for it, which it holds until it is sent. */
  async function deliverAttached(
    delivery: Delivery,
    attachments: readonly AttachmentInfo[],
  ): Promise<AttemptResult | undefined> {
    const { message, lease } = delivery;
    if (lease.stopping.aborted) return { notes: [] };
    const isLast = message.remainingMs <= 0;
    const release = await loader.reserve(message.accountId, attachments, isLast);
    if (release === undefined)
      return postponedResult(
        message,
        memoryRetryMs,
        'many messages with attachments are being sent',
      );
    try {
      return await deliver(delivery);
    } finally {
      release();
    }
  }

  async function deliver(delivery: Delivery): Promise<AttemptResult | undefined> {
    const { message, lease, content, address, prepare } = delivery;
    if (lease.stopping.aborted) return { notes: [] };
    const refused = checkRecipient(message, address, staging);
    if (refused !== undefined) return refused;
    const { accountId, transactional } = message;
    const identity = await dependencies.findIdentity(accountId, content.from.address);
    if ('problem' in identity) return waitForSender(message, identity);
    const to = staging.redirect ?? address;
    const admit = async () => {
      const admitted = await transport.admit({ to, urgent: transactional, pool: identity.pool });
      // Too many messages wait for the domain to ask for each.
      if (!redirects && 'backlog' in admitted && admitted.backlog !== undefined)
        deferBacklog({ accountId, domain: domainOf(address), transactional }, admitted.backlog);
      return admitted;
    };
    const giveUp = (result: AttemptResult): AttemptResult => {
      identity.release?.();
      return result;
    };
    const postpone = ({ delayMs, reason }: Postponement) =>
      giveUp(postponeOrExpire(message, delayMs, reason));
    let transaction = await admit();
    if (!('send' in transaction)) return postpone(transaction);
    // Complete messages may wait for a thread, and the slots of their destinations mustn't wait with them.
    const isRaw = message.templateId === rawTemplateId;
    if (isRaw) transaction.cancel();
    const prepared = await prepareTransaction(message, prepare, identity, log);
    if (!('raw' in prepared)) {
      if (!isRaw) transaction.cancel();
      return giveUp(prepared);
    }
    if (isRaw) transaction = await admit();
    if (!('send' in transaction)) return postpone(transaction);
    return sendTransaction({
      message,
      lease: withDeadline(message, lease),
      transaction,
      identity,
      prepared,
      to,
      recipients: recipientsOf(content),
      redirects,
    });
  }

  return async (message, lease) => {
    const { accountId, templateId } = message;
    const accepted = readContent(message.content);
    if (accepted === undefined) return resultOf('canceled', 'its content has been erased');
    const recipients = recipientsOf(accepted);
    const address = recipients[message.recipient] ?? erasedAddress;
    const refused = checkMessage(message, recipients);
    // Only scheduled messages are checked again, unless they won't be sent anyway.
    const due =
      isScheduledClass(message.retentionDays) && refused === undefined
        ? await dependencies.checkDue(message, accepted)
        : { content: accepted, templateVersion: message.templateVersion };
    if (due === undefined) return undefined;
    const { content, templateVersion } = due;
    // The archive's copy has nothing that acts for To: no tracking and no unsubscribe link, as in mail that offers none.
    const decorated: ClaimedMessage = {
      ...message,
      templateVersion,
      ...(message.recipient === archiveNumber(content) && {
        transactional: true,
        trackOpens: false,
        trackClicks: false,
      }),
    };
    const delivery = { message, lease, content, address };
    if (templateId === rawTemplateId) {
      const ended = refused ?? due.result;
      if (ended !== undefined) return ended;
      const source = rawSourceOf(content);
      if (source === undefined) return resultOf('canceled', 'its content has been erased');
      const prepare = async () => {
        const decoration = await decorate(decorated, content, undefined);
        const bytes = await loader.loadSource(accountId, source);
        const turn = { group: accountId, patient: true };
        return render(message, () => prepareRawMail(content, bytes, redirects, decoration, turn));
      };
      return deliverAttached({ ...delivery, prepare }, [source]);
    }
    const found = dependencies.findVersion(accountId, templateId, templateVersion, content.locale);
    const template = found instanceof Promise ? await found : found;
    if (template === undefined)
      return refused ?? resultOf('failed', 'its template version no longer exists');
    const attachments = withImages(content.attachments, template.compiled.images);
    const prepare = async () => {
      const files = attachments && (await loader.load(accountId, attachments));
      const made = decorate(decorated, content, template);
      const decoration = made instanceof Promise ? await made : made;
      return render(message, () =>
        prepareMail(decorated, content, template, redirects, decoration, files),
      );
    };
    const result =
      refused ??
      due.result ??
      (attachments === undefined
        ? await deliver({ ...delivery, prepare })
        : await deliverAttached({ ...delivery, prepare }, attachments));
    const secretFields = secretFieldsOf(content, secretNamesOf(template.compiled));
    return result && { ...result, secretFields, hasOthers: recipients.length > 1 };
  };
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
