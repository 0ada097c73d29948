import { causeAfterText, classifyReply } from '../../delivery/classify-reply.ts';
import type { PermanentCause } from '../../delivery/reply-rules.ts';
import { bouncePhrases, otherThanMailbox } from './bounce-phrases.ts';
import type { FeedbackMail } from './feedback-mail.ts';

const maxDiagnosticLength = 500;
/** Cisco gateways prefix the server's reply: `5.1.0 - Unknown address error 550-'5.7.1 Access denied'`. */
const quotedReply = /^\s{0,4}[45]\.\d\.\d - [^'\n]{1,60} ([45]\d\d)-'([^'\n]{1,500})'/;
/** A basic code that no rule matches, so that only the status counts. */
const genericPermanentCode = 559;
const genericTemporaryCode = 459;

/**
 * Classifies a failed delivery by the report's status and the server's text.
 * @param status the report's own (RFC 3463)
 * @param words text of the server or program
 * @param afterText the server rejected the message only after DATA
 */
export function classifyBounce(
  status: string | undefined,
  words: string,
  afterText = false,
): FeedbackMail & { kind: 'bounce' } {
  const quoted = quotedReply.exec(words);
  if (quoted !== null) {
    const [, code = '', replyText = ''] = quoted;
    const inner = classifyBounce(
      /^[45]\.\d\.\d{1,3}\b/.exec(replyText)?.[0],
      `${code} ${replyText}`,
      afterText,
    );
    return { ...inner, diagnostic: sanitizeDiagnostic(words) };
  }
  const reply = findReply(words);
  const enhanced = moreSpecificStatus(status, reply?.enhanced);
  const digit = Number((enhanced ?? String(reply?.code ?? 5)).charAt(0));
  const permanent = digit !== 4;
  const code = codeFor(reply?.code, permanent);
  const meaning = classifyReply(code, enhanced, words);
  let cause = meaning.kind === 'delivered' ? 'other' : meaning.cause;
  if (cause === 'other' || (reply === undefined && isVague(enhanced))) {
    const phrase = bouncePhrases.find(({ text }) => text.test(words.slice(0, 4_000)));
    if (phrase !== undefined) cause = phrase.cause;
  }
  if (cause === 'no-mailbox')
    cause = otherThanMailbox.find(({ text }) => text.test(words.slice(0, 4_000)))?.cause ?? cause;
  if (permanent && afterText)
    cause = causeAfterText(cause as PermanentCause, { enhanced: reply?.enhanced, text: words });
  return {
    kind: 'bounce',
    permanent,
    cause,
    status: enhanced,
    diagnostic: sanitizeDiagnostic(words),
  };
}

function codeFor(code: number | undefined, permanent: boolean): number {
  if (code === undefined) return permanent ? genericPermanentCode : genericTemporaryCode;
  const sameClass = Math.floor(code / 100) === (permanent ? 5 : 4);
  return sameClass ? code : permanent ? genericPermanentCode : genericTemporaryCode;
}

/** X.0.0 and X.5.0 are meaningless; use the server's own status if it is more specific. */
function moreSpecificStatus(
  report: string | undefined,
  reply: string | undefined,
): string | undefined {
  if (report === undefined || isVague(report)) return reply ?? report;
  return report;
}

function isVague(status: string | undefined): boolean {
  return status === undefined || /^[245]\.(0\.0|0|5\.0|7\.0|3\.0)$/.test(status);
}

/** The first SMTP reply in a text: `550 5.1.1 …`, `550-5.1.1`, `552: …`, `#5.1.1`, or just a status. */
export function findReply(
  text: string,
): { readonly code: number | undefined; readonly enhanced: string | undefined } | undefined {
  const words = text.slice(0, 20_000);
  const full =
    /(?<![\d.:[-])([45][0-5]\d)(?:[ :,>#-]+\(?#?([45]\.\d{1,3}\.\d{1,3})\b)?(?=[ :,;)>-]|$)/m.exec(
      words,
    );
  const alone = /(?<![\d.])#?([45]\.\d{1,2}\.\d{1,3})(?![\d.])/.exec(words);
  if (full === null && alone === null) return undefined;
  return {
    code: full === null ? undefined : Number(full[1]),
    enhanced: full?.[2] ?? alone?.[1],
  };
}

/**
 * Returns one bounded line without control characters, some of which PostgreSQL's JSON can't hold, and without email
 * addresses, because events hold no personal data.
 */
export function sanitizeDiagnostic(words: string): string {
  return words
    .slice(0, 4_000)
    .replace(/[^\s<>"'(),;:[\]]{1,100}@[^\s<>"'(),;:[\]]{1,255}/g, '[address]')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxDiagnosticLength)
    .toWellFormed();
}
