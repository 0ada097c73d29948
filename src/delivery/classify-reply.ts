import type { RetryKind } from '../queue/retry-schedule.ts';
import {
  type PermanentCause,
  permanentRules,
  retryable5xxRules,
  type TemporaryCause,
  temporaryRules,
} from './reply-rules.ts';

/** What a reply means for the recipient that it is about. */
export type ReplyMeaning =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'temporary';
      readonly cause: TemporaryCause;
      readonly retry: RetryKind;
      /** Seconds that the receiver named. */
      readonly after: number | undefined;
    }
  | { readonly kind: 'permanent'; readonly cause: PermanentCause };

interface Rule {
  readonly codes?: readonly number[];
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
}

/** No rule looks further into a text. */
const maxTextLength = 1_000;

/**
 * Tells what a reply means. Total and pure. The first digit of the basic code decides between delivered, again and never
 * (RFC 5321 section 4.2.1), also where the enhanced code (RFC 3463) says otherwise; enhanced code and text only name the
 * cause, save for the few replies of class 5 that are about the session. What is no reply is a fault of the moment.
 */
export function classifyReply(
  code: number,
  enhanced: string | undefined,
  text: string,
): ReplyMeaning {
  const words = text.slice(0, maxTextLength);
  const matches = (rule: Rule): boolean =>
    (rule.codes === undefined || rule.codes.includes(code)) &&
    (rule.enhanced === undefined || (enhanced !== undefined && rule.enhanced.test(enhanced))) &&
    (rule.text === undefined || rule.text.test(words));
  const digit = Math.floor(code / 100);
  if (digit === 2) return { kind: 'delivered' };
  if (digit === 5) {
    const retryable = retryable5xxRules.find(matches);
    if (retryable === undefined)
      return { kind: 'permanent', cause: permanentRules.find(matches)?.cause ?? 'other' };
    return { kind: 'temporary', cause: retryable.cause, retry: retryable.retry, after: undefined };
  }
  const found = digit === 4 ? temporaryRules.find(matches) : undefined;
  return {
    kind: 'temporary',
    cause: found?.cause ?? (digit === 4 ? 'other' : 'protocol'),
    retry: found?.retry ?? 'ordinary',
    after: digit === 4 ? requestedDelaySeconds(words) : undefined,
  };
}

/**
 * The cause of a refusal that came only after the text. A server that took RCPT knows the mailbox (RFC 5321 section 3.3):
 * that there is none is what it says for the recipient's filter, unless it is precise about it.
 */
export function causeAfterText(
  cause: PermanentCause,
  { enhanced, text }: { readonly enhanced: string | undefined; readonly text: string },
): PermanentCause {
  if (cause !== 'no-mailbox') return cause;
  const precise =
    /^5\.1\./.test(enhanced ?? '') || /doesn.t have an? [^ ]{1,60} account/i.test(text);
  return precise ? cause : 'filtered';
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Seconds that a text asks to wait: `in 300 seconds`, `wait 5 minutes`, `come back in 00:05:00`. */
function requestedDelaySeconds(text: string): number | undefined {
  const clock = /\bin (\d{1,2}):(\d{2}):(\d{2})\b/.exec(text);
  if (clock !== null) return Number(clock[1]) * 3_600 + Number(clock[2]) * 60 + Number(clock[3]);
  const words =
    /(?:again|retry|back|wait|listed|listing|after|for|delay)\b[^.\d]{0,30}(\d{1,5})\s?(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b/i.exec(
      text,
    );
  if (words === null) return undefined;
  const unit = unitSeconds[(words[2] ?? '').charAt(0).toLowerCase()] ?? 1;
  return Number(words[1]) * unit;
}
