import { causeAfterText, classifyReply } from '../../sending/delivery/classify-reply.ts';
import type { PermanentCause, TemporaryCause } from '../../sending/delivery/reply-rules.ts';

/** What mail to a return path says. */
export type FeedbackMail = Feedback & {
  /** The addresses that a report names for its recipient, in lower case. */
  readonly named?: readonly string[];
};

type Feedback =
  /** Delivery failed permanently. */
  | {
      readonly kind: 'bounce';
      readonly permanent: boolean;
      readonly cause: PermanentCause | TemporaryCause;
      /** Enhanced status (RFC 3463), if there was one. */
      readonly status: string | undefined;
      /** Text of the server or its report, bounded, without addresses. */
      readonly diagnostic: string;
    }
  /** Still being retried. */
  | { readonly kind: 'delay'; readonly status: string | undefined; readonly diagnostic: string }
  /** The recipient's provider reports it as spam. */
  | {
      readonly kind: 'complaint';
      readonly feedbackType: string;
      /** MAIL FROM of the message, if the report names it. */
      readonly mailFrom?: string | undefined;
    }
  /** Delivered, relayed, expanded or read: nothing is wrong. */
  | { readonly kind: 'notice'; readonly what: string }
  /** A vacation message or another automatic reply (RFC 3834). */
  | { readonly kind: 'auto-reply' }
  | { readonly kind: 'unknown' };

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

/** Phrases of programs that send no status and of servers that reply in other languages; the first match wins. */
const bouncePhrases: readonly { readonly cause: PermanentCause; readonly text: RegExp }[] = [
  // A program on the receiver's side failed; what it says about users isn't about the recipient.
  { cause: 'other', text: /\bcommand (died|output)|can.?t create|couldn.?t create|procmail:/i },
  {
    cause: 'mailbox-full',
    text: /(mailbox|account|inbox|postfach|quota)[^.\n]{0,60}(full|exceed|überfüllt|voll)|over (its |the )?(disk )?quota|not enough (disk )?space|bo[iî]te[^.\n]{0,40}(pleine|saturée)|переполнен|邮箱(空间)?已满|容量|メールボックス[^。\n]{0,30}(いっぱい|容量)/i,
  },
  {
    cause: 'content',
    text: /\bspam\b|virus|junk mail|unsolicited|спам|垃圾邮件|反垃圾/i,
  },
  {
    cause: 'mailbox-disabled',
    text: /(account|mailbox|user)[^.\n]{0,40}(disabled|inactive|suspended|closed|deaktiviert|gesperrt)|заблокирован|отключ[её]н|désactivée?/i,
  },
  {
    cause: 'no-domain',
    text: /InfoDomainNonexistent|(host|domain)( name)?(?:[^.\n]|\.\b){0,80}(not found|unknown|does not exist|could not be found|couldn.t be found)|unrouteable (mail )?(domain|address)|no such (domain|host)|no mx record|#5\.4\.4\b|name service error[^\n]{0,120}host not found|unable to resolve|CNAME lookup failed|sorry, i couldn.t find any host|domaine (inconnu|inexistant)|домен не (найден|существует)/i,
  },
  {
    cause: 'no-mailbox',
    text: /no such (user|mailbox|recipient|address|person)|recipient name is not recognized|invalid final delivery userid|(user|recipient|mailbox|address|account)(?:[^.\n]|\.\b){0,80}(unknown|not (be )?found|not exist|invalid|doesn.t exist|not listed|not valid|is not a|unavailable)|unknown (user|recipient|mailbox|local)|not listed in|no mailbox here|does not have an? [^.\n]{0,30} account|empfänger[^.\n]{0,40}(unbekannt|existiert|nicht gefunden)|nicht bekannt|adresse[^.\n]{0,40}(inconnue|n.existe|introuvable|invalide)|utilisateur inconnu|destinataire inconnu|пользовател[ья] не (найден|существует)|не существует|无此用户|(?<!可能)不存在|收件人[^。\n]{0,20}(不存在|无效)|あて先|宛先[^。\n]{0,30}(不明|見つかり|存在しません)|usuario (desconocido|no existe)|destinatario (desconocido|sconosciuto)|utente sconosciuto|onbekende gebruiker|usuário desconhecido/i,
  },
  {
    cause: 'size',
    text: /(message|mail)[^.\n]{0,40}(too (big|large)|exceeds)|message size exceeded|size limit|zu groß|trop volumineux/i,
  },
  {
    cause: 'loop',
    text: /too many hops|mail loop|hop count|looping/i,
  },
];

/** What isn't about the mailbox, although some servers say so with its status. */
const otherThanMailbox: readonly {
  readonly cause: PermanentCause;
  readonly text: RegExp;
}[] = [
  ...bouncePhrases.filter(({ cause }) => cause === 'size'),
  { cause: 'other', text: /gr[ea]y-?list/i },
];
