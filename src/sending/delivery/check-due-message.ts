import { batchReads } from '../../base/database/batch-reads.ts';
import type { Database } from '../../base/database/open-database.ts';
import { normalizeAddress } from '../../base/values/email-address.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { type MessageContent, recipientsOf } from '../../content/message/message-content.ts';
import { isFinalState } from '../../content/message/message-state.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import { parseOverride, type TemplateOverride } from '../../content/template/parse-override.ts';
import { missingFields } from '../../content/template/template-fields.ts';
import type { AttemptResult, ClaimedMessage } from '../queue/attempt.ts';
import { resultOf, waitForSender } from './attempt-results.ts';
import {
  readState,
  readSuppressed,
  type SuppressionQuestion,
  saveDueDecision,
} from './due-message-store.ts';

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
    const { recipient, templateVersion } = message;
    const isTest = isTestClass(message.retentionDays);
    const unsent = (result: AttemptResult) => ({ templateVersion, content, result });
    const unverified = isTest ? undefined : await findUnverified(message, content);
    if (unverified !== undefined)
      return unsent(
        waitForSender(message, { problem: `${unverified} isn’t a verified sender any more` }),
      );
    const addresses = recipientsOf(content).map(normalizeAddress);
    const [to, own = to] = [addresses[0], addresses[recipient]];
    const { accountId, transactional } = message;
    const blocked = isTest ? [] : await findSuppressed({ accountId, transactional, addresses });
    const suppressed: ReadonlySet<string | undefined> = new Set(blocked);
    const leftOut: ReadonlySet<string | undefined> = new Set(
      content.suppressedCc?.map(normalizeAddress),
    );
    if (suppressed.has(own) || (recipient > 0 && leftOut.has(own)))
      return unsent(resultOf('suppressed', 'the address has been suppressed'));
    // Without its To recipient, nothing of a message is sent, as at acceptance, unless To has already got it. Read after the
    // suppressions, because an outcome is recorded before the suppression that it causes.
    if (suppressed.has(to)) {
      const state = await readState(database.kysely, message);
      if (state === undefined || !isFinalState(state) || state === 'suppressed')
        return unsent(resultOf('canceled', 'its To address has been suppressed'));
    }
    const needsDecision =
      content.templateVersion === 'due' || (addresses.length > 1 && content.checkedAtDue !== true);
    if (!needsDecision) return { templateVersion, content };
    const choice =
      content.templateVersion === 'due'
        ? await chooseVersion(message, content)
        : { version: templateVersion, kept: undefined };
    return saveDueDecision(database.kysely, message, {
      templateVersion: choice.version,
      suppressedCc: (content.cc ?? []).filter((cc) => {
        const address = normalizeAddress(cc);
        return suppressed.has(address) && !leftOut.has(address);
      }),
      versionKept: choice.kept,
    });
  };
}

function overrideOf(text: string | undefined): TemplateOverride | undefined {
  const parsed = text === undefined ? undefined : parseOverride(text);
  return parsed?.ok === true ? parsed.override : undefined;
}
