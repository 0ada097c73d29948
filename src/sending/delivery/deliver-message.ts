import { TurnQueue } from '../../base/fairness/fair-queue.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { Log } from '../../base/values/log.ts';
import type { AttachmentInfo } from '../../content/message/attachment.ts';
import {
  archiveNumber,
  readContent,
  recipientsOf,
  secretFieldsOf,
} from '../../content/message/message-content.ts';
import { rawSourceOf, rawTemplateId } from '../../content/message/raw-message.ts';
import { isScheduledClass } from '../../content/message/scheduled-class.ts';
import { secretNamesOf } from '../../content/template/secret-names.ts';
import type { Attempt, AttemptResult, ClaimedMessage, Lease } from '../queue/attempt.ts';
import {
  type AdmitAddress,
  admitMail,
  postponeMessage,
  type SendingAdmission,
} from './admit-mail.ts';
import {
  checkMessage,
  postponedResult,
  resultForAll,
  resultWithoutEnvelope,
  type StagingRules,
  selectRecipients,
  waitForSender,
} from './attempt-results.ts';
import type { CheckDue, DueMessage } from './check-due-message.ts';
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
import {
  type PreparedTransaction,
  prepareTransaction,
  sendTransactions,
} from './send-transactions.ts';
import { tracePart } from './trace-attempt.ts';
import type { Transport } from './transport.ts';

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

/** What a mail is for: the recipients of the request, or the account's own copy. */
type MailForm = 'recipients' | 'archive';

type PrepareForm = (form: MailForm) => Promise<PreparedMail>;

const memoryRetryMs = 1_000;

/**
 * Creates the function that sends one claimed message: render, route, one SMTP transaction and one result per recipient.
 */
export function createDelivery(dependencies: DeliveryDependencies): Attempt {
  const { transport, staging, decorate, log, deferBacklog, attachments: loader } = dependencies;
  const redirects = staging.redirect !== undefined;
  // Messages are claimed in batches; rendering and signing a whole batch at once would leave connections idle.
  const turns = new TurnQueue();
  const render = <Result>(message: ClaimedMessage, run: () => Result) =>
    turns.run(message.accountId, () => tracePart(message, 'render', run));

  /** Delivers a message with attachments once there is memory for it, which it holds until it is sent. */
  async function deliverAttached(
    message: ClaimedMessage,
    lease: Lease,
    due: DueMessage,
    attachments: readonly AttachmentInfo[],
    prepare: PrepareForm,
  ): Promise<AttemptResult | undefined> {
    const refused = checkMessage(message, lease);
    if (refused !== undefined) return refused;
    const isLast = message.remainingMs <= 0;
    const release = await loader.reserve(message.accountId, attachments, isLast);
    if (release === undefined)
      return postponedResult(
        message,
        memoryRetryMs,
        'many messages with attachments are being sent',
      );
    try {
      return await deliver(message, lease, due, prepare);
    } finally {
      release();
    }
  }

  /** Delivers a message that was submitted complete. */
  async function deliverRaw(
    message: ClaimedMessage,
    lease: Lease,
    due: DueMessage,
  ): Promise<AttemptResult | undefined> {
    if (due.result !== undefined) return due.result;
    const { content } = due;
    const { accountId } = message;
    const source = rawSourceOf(content);
    if (source === undefined) return resultWithoutContent(message);
    return deliverAttached(message, lease, due, [source], async (form) => {
      const decoration = await decorate(asForm(message, form), content, undefined);
      const bytes = await loader.loadSource(accountId, source);
      const turn = { group: accountId, patient: true };
      return render(message, () => prepareRawMail(content, bytes, redirects, decoration, turn));
    });
  }

  async function deliver(
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
    const { envelope } = selection.route;
    if (envelope.size === 0) return resultWithoutEnvelope(message, selection);
    const identity = await dependencies.findIdentity(
      message.accountId,
      from.address,
      envelope.size,
    );
    if ('problem' in identity) return waitForSender(message, identity);
    const { accountId, transactional } = message;
    const admit: AdmitAddress = async (to) => {
      const admitted = await transport.admit({ to, urgent: transactional, pool: identity.pool });
      // Too many messages wait for the domain to ask for each.
      if (!redirects && 'backlog' in admitted && admitted.backlog !== undefined)
        deferBacklog(
          { accountId, domain: domainOf(to as EmailAddress), transactional },
          admitted.backlog,
        );
      return admitted;
    };
    const addresses = [...envelope.keys()];
    const postpone = (waiting: SendingAdmission): AttemptResult => {
      identity.release?.(envelope.size);
      return postponeMessage(message, waiting, selection);
    };
    let admission = await admitMail(admit, addresses);
    if (admission.transaction === undefined) return postpone(admission);
    // Complete messages may wait for a thread, and the slots of their destinations mustn't wait with them.
    const isRaw = message.templateId === rawTemplateId;
    if (isRaw) admission.transaction.cancel();
    const archive = archiveNumber(content);
    const formOf = (recipient: number): MailForm =>
      recipient === archive ? 'archive' : 'recipients';
    const forms = new Map<MailForm, PreparedTransaction>();
    for (const [first = 0] of envelope.values()) {
      const form = formOf(first);
      if (forms.has(form)) continue;
      const prepared = await prepareTransaction(message, () => prepare(form), identity, log);
      if ('results' in prepared) {
        if (!isRaw) admission.transaction.cancel();
        identity.release?.(envelope.size);
        return prepared;
      }
      forms.set(form, prepared);
    }
    if (isRaw) admission = await admitMail(admit, addresses);
    if (admission.transaction === undefined) return postpone(admission);
    return await sendTransactions({
      message,
      lease: withDeadline(message, lease),
      recipients,
      selection,
      admission,
      admit,
      identity,
      preparedFor(recipient) {
        const prepared = forms.get(formOf(recipient));
        if (prepared === undefined) throw new Error('a transaction without a prepared mail');
        return prepared;
      },
    });
  }

  return async (message, lease) => {
    const { accountId, templateId } = message;
    const accepted = readContent(message.content);
    if (accepted === undefined) return resultWithoutContent(message);
    // Only scheduled messages are checked again, unless they won't be sent anyway.
    const isChecked =
      isScheduledClass(message.retentionDays) && checkMessage(message, lease) === undefined;
    const due = isChecked
      ? await dependencies.checkDue(message, accepted)
      : { content: accepted, templateVersion: message.templateVersion, suppressed: [] };
    if (due === undefined) return undefined;
    const { content, templateVersion } = due;
    if (templateId === rawTemplateId) return deliverRaw(message, lease, due);
    const found = dependencies.findVersion(accountId, templateId, templateVersion, content.locale);
    const template = found instanceof Promise ? await found : found;
    if (template === undefined)
      return (
        checkMessage(message, lease) ??
        resultForAll(message, 'failed', 'its template version no longer exists')
      );
    const secretFields = secretFieldsOf(content, secretNamesOf(template.compiled));
    if (due.result !== undefined) return { ...due.result, secretFields };
    const rendered =
      templateVersion === message.templateVersion ? message : { ...message, templateVersion };
    const attachments = withImages(content.attachments, template.compiled.images);
    const prepare: PrepareForm = async (form) => {
      const files = attachments && (await loader.load(accountId, attachments));
      const decorated = decorate(asForm(rendered, form), content, template);
      const decoration = decorated instanceof Promise ? await decorated : decorated;
      return render(message, () =>
        prepareMail(rendered, content, template, redirects, decoration, files),
      );
    };
    const result =
      attachments === undefined
        ? await deliver(message, lease, due, prepare)
        : await deliverAttached(message, lease, due, attachments, prepare);
    return result && { ...result, secretFields };
  };
}

function resultWithoutContent(message: ClaimedMessage): AttemptResult {
  return resultForAll(message, 'canceled', 'its content has been erased');
}

/** The archive's copy has nothing that acts for To: no tracking and no unsubscribe link, as in mail that offers none. */
function asForm(message: ClaimedMessage, form: MailForm): ClaimedMessage {
  return form === 'recipients'
    ? message
    : { ...message, transactional: true, trackOpens: false, trackClicks: false };
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
