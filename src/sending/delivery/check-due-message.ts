import { batchReads } from '../../base/database/batch-reads.ts';
import type { Database } from '../../base/database/open-database.ts';
import { normalizeAddress } from '../../base/values/email-address.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { type MessageContent, recipientsOf } from '../../content/message/message-content.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import { parseOverride, type TemplateOverride } from '../../content/template/parse-override.ts';
import { missingFields } from '../../content/template/template-fields.ts';
import type { AttemptResult, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';
import { waitForSender, withResults } from './attempt-results.ts';
import { readSuppressed, type SuppressionQuestion, saveDueDecision } from './due-message-store.ts';

/** What was true when a scheduled message was accepted, and may no longer be. */
export interface DueFacts {
  readonly database: Pick<Database, 'kysely'>;
  readonly senders: {
    sender(
      accountId: AccountId,
      address: string,
    ): MaybePromise<{ readonly verified: boolean } | undefined>;
  };
  readonly templates: {
    published(
      accountId: AccountId,
      templateId: TemplateId,
    ): MaybePromise<{ readonly version: number; readonly template: LoadedTemplate } | undefined>;
  };
}

/** What to send. */
export interface DueMessage {
  readonly templateVersion: number;
  readonly content: MessageContent;
  /** Results for recipients that have become suppressed. */
  readonly suppressed: readonly RecipientResult[];
  /** Set if nothing is sent now. */
  readonly result?: AttemptResult;
}

/** Undefined: the lease is lost. */
export type CheckDue = (
  message: ClaimedMessage,
  content: MessageContent,
) => Promise<DueMessage | undefined>;

/** Creates the checks of a scheduled message at its send time: sender, suppressions, and which template version to use. */
export function createCheckDue({ database, senders, templates }: DueFacts): CheckDue {
  const findSuppressed = batchReads(async (questions: readonly SuppressionQuestion[]) =>
    readSuppressed(database.kysely, questions),
  );

  async function findUnverified(
    { accountId }: ClaimedMessage,
    { from, replyTo, receiveReplies }: MessageContent,
  ) {
    // An address that receives replies is the service's own, and no sender.
    const isSender = replyTo !== undefined && receiveReplies !== true;
    for (const address of isSender ? [from.address, replyTo] : [from.address]) {
      const sender = await senders.sender(accountId, normalizeAddress(address));
      if (sender?.verified !== true) return address;
    }
    return undefined;
  }

  /** The version to use, and why not the one that is published now. */
  async function chooseVersion(message: ClaimedMessage, content: MessageContent) {
    const accepted = message.templateVersion;
    const { accountId, templateId } = message;
    const published = await templates.published(accountId, templateId);
    if (published === undefined)
      return { version: accepted, kept: 'the template isn’t published any more' };
    if (published.version === accepted) return { version: accepted, kept: undefined };
    const keep = (reason: string) => {
      const kept = `version ${published.version} ${reason}`.slice(0, 1_000);
      return { version: accepted, kept };
    };
    const { guards = {} } = published.template.compiled;
    const unguarded = content.guarded?.find((name) => !Object.hasOwn(guards, name));
    // Its value is sealed, and only a version that guards it is sure to use it as a link.
    if (unguarded !== undefined) return keep(`doesn’t guard ${unguarded}`);
    const missing = missingFields(published.template.compiled, content.values, {
      subjectLine: overrideOf(content.subjectLine),
      previewText: overrideOf(content.previewText),
    });
    if (missing.length === 0) return { version: published.version, kept: undefined };
    const names = missing.slice(0, 20).join(', ');
    return keep(`lacks values for: ${names}`);
  }

  return async (message, content) => {
    const unsent = { templateVersion: message.templateVersion, content, suppressed: [] };
    const isTest = isTestClass(message.retentionDays);
    const unverified = isTest ? undefined : await findUnverified(message, content);
    if (unverified !== undefined)
      return {
        ...unsent,
        result: waitForSender(message, {
          problem: `${unverified} isn’t a verified sender any more`,
        }),
      };
    const recipients = recipientsOf(content);
    const pending = message.pending.flatMap((recipient) => {
      const address = recipients[recipient];
      return address === undefined ? [] : { recipient, address: normalizeAddress(address) };
    });
    const blocked = isTest
      ? []
      : await findSuppressed({
          accountId: message.accountId,
          transactional: message.transactional,
          addresses: pending.map(({ address }) => address),
        });
    const leftOut = new Set(content.suppressedCc?.map(normalizeAddress));
    const suppressed = pending
      .filter(({ address }) => blocked?.includes(address) === true || leftOut.has(address))
      .map(({ recipient }) => recipient);
    if (suppressed.includes(0)) return { ...unsent, result: withoutTo(message, suppressed) };
    const choice =
      content.templateVersion === 'due'
        ? await chooseVersion(message, content)
        : { version: message.templateVersion, kept: undefined };
    // After the first attempt, the Cc header stays as others may have received it.
    const newlyLeftOut = suppressed
      .flatMap((recipient) => recipients[recipient] ?? [])
      .filter((address) => message.attempt === 1 && !leftOut.has(normalizeAddress(address)));
    if (content.templateVersion === 'due' || newlyLeftOut.length > 0) {
      const isSaved = await saveDueDecision(database.kysely, message, {
        templateVersion: choice.version,
        suppressedCc: newlyLeftOut,
        versionKept: choice.kept,
      });
      if (!isSaved) return undefined;
    }
    return {
      templateVersion: choice.version,
      content: { ...content, suppressedCc: [...(content.suppressedCc ?? []), ...newlyLeftOut] },
      suppressed: suppressed.map(asSuppressed),
    };
  };
}

function overrideOf(text: string | undefined): TemplateOverride | undefined {
  const parsed = text === undefined ? undefined : parseOverride(text);
  return parsed?.ok === true ? parsed.override : undefined;
}

function asSuppressed(recipient: number): RecipientResult {
  return { recipient, outcome: 'suppressed', reason: 'the address has been suppressed' };
}

/** Without its To recipient, nothing of a message is sent, as at acceptance. */
function withoutTo(message: ClaimedMessage, suppressed: readonly number[]): AttemptResult {
  const results = message.pending.map(
    (recipient): RecipientResult =>
      suppressed.includes(recipient)
        ? asSuppressed(recipient)
        : { recipient, outcome: 'canceled', reason: 'its To address has been suppressed' },
  );
  return withResults(results);
}
