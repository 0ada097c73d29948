import type { RetryKind } from '../queue/retry-schedule.ts';
import {
  type PermanentCause,
  permanentRules,
  retryable5xxRules,
  type TemporaryCause,
  temporaryRules,
} from './reply-rules.ts';

/** What a reply means for its recipient. */
export type ReplyMeaning =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'temporary';
      readonly cause: TemporaryCause;
      readonly retry: RetryKind;
      /** Delay in seconds that the receiver asked for. */
      readonly after: number | undefined;
    }
  | { readonly kind: 'permanent'; readonly cause: PermanentCause };

interface Rule {
  readonly codes?: readonly number[];
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
}

/** Rules match at most this many characters. */
const maxTextLength = 1_000;

/**
 * Classifies any reply without throwing. The first digit of the basic code decides between delivered, retry and fail
 * (RFC 5321 section 4.2.1) even if the enhanced code (RFC 3463) disagrees; enhanced code and text only name the cause,
 * except for the few 5xx replies that are about the session.
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
 * The cause of a rejection after DATA. A server that accepted RCPT knows the mailbox (RFC 5321 section 3.3), so a vague
 * "no such user" at this point usually comes from the recipient's filter.
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

/** Delay in seconds requested in the text: `in 300 seconds`, `wait 5 minutes`, `come back in 00:05:00`. */
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
