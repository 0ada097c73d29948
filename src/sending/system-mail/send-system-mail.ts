import { TokenMint } from '../../accounts/access/token-mint.ts';
import {
  EndSessionsLinks,
  endSessionsPath,
  mailedLinkToken,
} from '../../accounts/notices/mailed-links.ts';
import {
  type Locale,
  type SystemMailKind,
  systemAccountId,
} from '../../accounts/notices/system-mail.ts';
import {
  type ClaimedSystemMail,
  claimSystemMail,
  dropSystemMail,
  settleSystemMail,
  systemMailTopic,
} from '../../accounts/notices/system-mail-store.ts';
import { saveSender } from '../../accounts/sender/sender-store.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { TemplateId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { Submission } from '../submission/submission-module.ts';
import { endSessionsField, hasLink, linkField } from './mail-fields.ts';
import { mailValues } from './mail-values.ts';
import { publishBuiltIn, replacementId } from './publish-template.ts';
import { readPublishedSource } from './system-template-store.ts';

/** The sender of system mail. */
interface SystemSender {
  readonly address: EmailAddress;
  readonly name: string | undefined;
}

interface SystemMailDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly clock: Clock;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  /** Undefined: no system mail is sent. */
  readonly from: SystemSender | undefined;
  readonly publicUrl: () => string;
  readonly sendOwn: Submission['sendServiceMessage'];
}

/** Poll interval in milliseconds: notices are collected for a moment, and a notification may be missed. */
const pollIntervalMs = 2_000;

/** Emails claimed at a time. */
const batchSize = 20;

/** Milliseconds after which an email is abandoned; less than the day for which its idempotency key is remembered. */
const maxWaitMs = 20 * 3_600_000;

/** Errors that a retry would repeat. */
const permanentFaults: ReadonlySet<string> = new Set(['RECIPIENT_SUPPRESSED', 'VALIDATION_FAILED']);

/** Passes the rows of `system_mail` to the send operation in the background, using the row's id as idempotency key. */
export function createSystemMailer(dependencies: SystemMailDependencies) {
  let senderSaved = false;
  const builtIn = new Map<string, Promise<TemplateId>>();
  const { key, clock, log, changes } = dependencies;
  const mint = new TokenMint(key);
  const endSessionsLinks = new EndSessionsLinks(key, clock);
  const task = new PeriodicTask(pollIntervalMs, sendWaiting, {
    onError: (error) => log.warn({ err: error }, 'could not send system mail; will retry'),
  });
  changes.subscribe(systemMailTopic, () => void task.runNow());
  return { start, stop };

  /** Starts sending, beginning with mail that is already waiting. */
  function start(): void {
    task.start();
    void task.runNow();
  }

  function stop(): Promise<void> {
    return task.stop();
  }

  /** Sends until nothing is due. */
  async function sendWaiting(): Promise<void> {
    const { kysely } = dependencies.database;
    if (dependencies.from === undefined) return dropSystemMail(kysely);
    for (;;) {
      const mails = await claimSystemMail(kysely, batchSize);
      for (const mail of mails) await sendOrRetry(mail, dependencies.from);
      if (mails.length < batchSize) return;
    }
  }

  async function sendOrRetry(mail: ClaimedSystemMail, from: SystemSender): Promise<void> {
    const { database, log } = dependencies;
    const context = { mail: mail.id, kind: mail.kind };
    try {
      await send(mail, from);
    } catch (error) {
      const code = error instanceof Fault ? error.code : undefined;
      // An earlier attempt was accepted with a different text or language.
      const isSent = code === 'IDEMPOTENCY_MISMATCH';
      const isExpired = Date.now() - mail.createdAt.getTime() > maxWaitMs;
      if (!isSent && !isExpired && !permanentFaults.has(code ?? '')) {
        log.warn({ err: error, ...context }, 'could not send a system email; will retry');
        return;
      }
      if (!isSent) log.error({ err: error, ...context }, 'gave up on a system email');
    }
    await settleSystemMail(database.kysely, mail);
  }

  async function send(mail: ClaimedSystemMail, from: SystemSender): Promise<void> {
    const { publicUrl, sendOwn } = dependencies;
    await saveSystemSender(from);
    const locale = mail.locale ?? 'en';
    const values = { ...mailValues(mail, locale, publicUrl()), ...endSessions(mail) };
    await sendOwn(systemAccountId, await template(mail.kind, locale), {
      key: mail.id,
      from,
      toAddress: mail.toAddress,
      deliverWhenDelayed: mail.kind !== 'password-link' || mail.facts.lasts === 'day',
      values: hasLink(mail.kind) ? { ...values, [linkField]: link(mail) } : values,
    });
  }

  /** The link in a security notice; a new one with each attempt, which changes nothing. */
  function endSessions({ kind, personId }: ClaimedSystemMail): Readonly<Record<string, string>> {
    if (kind !== 'security-notice') return {};
    if (personId === null) return { [endSessionsField]: '' };
    const token = endSessionsLinks.token(personId);
    return { [endSessionsField]: `${dependencies.publicUrl()}${endSessionsPath}/${token}` };
  }

  function link({ kind, id }: ClaimedSystemMail): string {
    const token = mailedLinkToken(key, id);
    const paths: Readonly<Record<SystemMailKind, string>> = {
      'password-link': `set-password/${mint.wrap('link', token)}`,
      invitation: `invitation/${mint.wrap('link', token)}`,
      'sender-confirmation': `verify-sender/${token}`,
      'security-notice': 'me',
    };
    return `${dependencies.publicUrl()}/${paths[kind]}`;
  }

  async function template(kind: SystemMailKind, locale: Locale): Promise<TemplateId> {
    const { database } = dependencies;
    const replaced = replacementId(kind);
    if ((await readPublishedSource(database.kysely, replaced)) !== undefined) return replaced;
    const name = `${kind}-${locale}`;
    const cached = builtIn.get(name) ?? publishBuiltIn(database, kind, locale);
    builtIn.set(name, cached);
    cached.catch(() => builtIn.delete(name));
    return cached;
  }

  /** Only this account has this sender; `*` allows the display name in the setting. */
  async function saveSystemSender({ address }: SystemSender): Promise<void> {
    if (senderSaved) return;
    const sender = { address: normalizeAddress(address), displayNames: ['*'], verified: true };
    await saveSender(dependencies.database.kysely, systemAccountId, sender);
    senderSaved = true;
  }
}
