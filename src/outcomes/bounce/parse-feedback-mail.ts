import { decodeWords } from '../../base/mime/decode.ts';
import { MailFields } from '../../base/mime/header-fields.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import {
  decodedText,
  type MimeEntity,
  TooManyParts,
  walkParts,
} from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import { lowerCase } from '../../base/values/email-address.ts';
import { htmlText } from '../../content/template/html-text.ts';
import { textOf } from '../relay/json-fields.ts';
import { readSes } from '../relay/read-ses.ts';
import {
  classifyBounce,
  type FeedbackMail,
  findReply,
  sanitizeDiagnostic,
} from './classify-bounce.ts';

/** Where a program's own text ends and the returned message begins. */
const originalBegins =
  /^[- *=_]{0,40}(?:(?:below (?:this line )?is a copy of|this is a copy of|the following is a copy|copy of)[^\n]{0,60}|original message(?: follows| headers)?|(?:the )?header of the original message[^\n]{0,20}|(?:your )?(?:un(?:sent|delivered)|returned) message[^\n]{0,30}|message headers?(?: follow)?|forwarded message|message de départ|ursprüngliche nachricht)[- *=_:.]{0,40}$/im;
/** Text about the failure comes first, so the rest isn't read. */
const maxTextLength = 60_000;
/** Characters of a document that are read. */
const maxHtmlLength = 100_000;

const bounceSenders =
  /\b(mailer-?daemon|postmaster|mail ?delivery|mdaemon|mailsystem|mail-?administrator|microsoftexchange[0-9a-f]*)\b/i;
const bounceSubjects =
  /undeliver|not (be )?deliver|delivery (status|fail|problem|error|has failed|incomplete)|failure (notice|delivery)|failed (mail|delivery)|mail (delivery|system error|could not)|returned (mail|to sender)|message (status|not delivered|undeliverable)|non remis|unzustellbar|nicht zugestellt|не (может быть )?доставлен|недоставлен|退信|系统退信|配信(エラー|不能)|エラー|devuelto|mancata consegna|onbestelbaar|não entregue/i;
const autoSubjects =
  /^(re: ?)?(auto(matic|mated)?[ -]?(reply|response|antwort)|out of (the )?office|abwesen|absence|réponse automatique|automatische antwort|vacation|on (annual )?leave|ooo\b|away from|i am away|自動返信|自动回复|автоответ)/i;

/** Max bytes of a message to parse. */
export const maxBytesRead = 2_000_000;
/** Reports have few parts; what follows isn't read. */
const limits = { parts: 100, depth: 6, messages: false, guess: true };
/** Encoded bytes of a part. */
const maxPartBytes = 200_000;
const maxFieldLength = 4_000;

/**
 * Parses mail to a return path: delivery status notifications (RFC 3464, 6533), abuse reports (RFC 5965) and the
 * formats of older programs. Anything unrecognized is `unknown`. Never throws.
 */
export function parseFeedbackMail({ source }: { readonly source: Buffer }): FeedbackMail {
  const parts = readParts(source.subarray(0, maxBytesRead));
  const forwarded = parts[0]?.type === 'multipart/report' ? undefined : findReport(parts);
  return parseParts(forwarded ?? parts);
}

export const readFeedbackMail = mailJob(parseFeedbackMail, import.meta.url);

function readParts(source: Buffer): MimeEntity[] {
  const parts: MimeEntity[] = [];
  try {
    for (const { entity } of walkParts(source, limits)) parts.push(entity);
  } catch (error) {
    if (!(error instanceof TooManyParts)) throw error;
  }
  return parts;
}

/** A notification that some programs attach to a message of their own. */
function findReport(parts: readonly MimeEntity[]): readonly MimeEntity[] | undefined {
  return parts
    .filter(({ type }) => type === 'message/rfc822')
    .map(({ body }) => readParts(body))
    .find(
      ([report]) => report?.params.get('report-type')?.[0]?.toLowerCase() === 'delivery-status',
    );
}

function parseParts(parts: readonly MimeEntity[]): FeedbackMail {
  const [mail] = parts;
  if (mail === undefined) return { kind: 'unknown' };
  const complaint = readComplaint(mail, parts);
  if (complaint !== undefined) return complaint;
  const status = parts.find(({ type }) => /^message\/(global-)?delivery-status$/.test(type));
  if (status !== undefined) {
    const report = fromStatus(readDeliveryStatus(readText(status)), humanText(parts));
    if (report !== undefined) return report;
  }
  if (parts.some(({ type }) => /^message\/(global-)?disposition-notification$/.test(type)))
    return { kind: 'notice', what: 'read' };
  return isAutoReply(mail) ? { kind: 'auto-reply' } : fromWords(mail, parts);
}

const reachedActions: ReadonlySet<string> = new Set(['delivered', 'relayed', 'expanded']);

function fromStatus(
  recipients: readonly RecipientStatus[],
  words: string,
): FeedbackMail | undefined {
  // Each return path belongs to one recipient, who got the message if any target of an alias did (RFC 3464 section 2.3.3).
  const reached = recipients.find(({ action }) => reachedActions.has(action));
  if (reached !== undefined) return { kind: 'notice', what: reached.action };
  const worst =
    recipients.find(({ action }) => action === 'failed') ??
    recipients.find(({ action }) => action === 'delayed') ??
    recipients[0];
  if (worst === undefined) return undefined;
  const { action, status, diagnostic, named } = worst;
  if (action === 'failed') {
    const own =
      diagnostic === '' || /^(x-unknown|unknown)?$/i.test(diagnostic) ? words : diagnostic;
    return { ...classifyBounce(status, own, refusedAfterData(`${diagnostic}\n${words}`)), named };
  }
  if (action === 'delayed')
    return { kind: 'delay', status, diagnostic: sanitizeDiagnostic(diagnostic || words), named };
  return { kind: 'notice', what: action };
}

/**
 * Whether the server rejected the message only after DATA, as reported by Postfix, Exim, Sendmail and Cisco gateways.
 */
function refusedAfterData(words: string): boolean {
  if (
    /in reply to (the )?end of\s+DATA|after end of data|SMTP command\s+DATA|5\.3\.0 - Other mail/i.test(
      words,
    )
  )
    return true;
  const [, later = ''] = />>> DATA\s{1,4}<<< 5([\s\S]{0,2000})/.exec(words) ?? [];
  // With pipelining, DATA without a valid recipient is rejected too; the relevant reply is the earlier one to RCPT.
  return (
    later !== '' &&
    !/<<< 5\d\d[ -][^\n]{0,40}(need rcpt|no valid recipients|rcpt commands were rejected)/i.test(
      later,
    )
  );
}

/** RFC 5965, and complaints that providers send without a report part. */
function readComplaint(mail: MimeEntity, parts: readonly MimeEntity[]): FeedbackMail | undefined {
  const report = parts.find(({ type }) => type === 'message/feedback-report');
  if (report !== undefined) {
    const fields = new MailFields(Buffer.from(readText(report)));
    const feedbackType = (fields.get('feedback-type') ?? 'abuse').toLowerCase().slice(0, 40);
    // RFC 5965 section 7.3 and RFC 6591: these say nothing about what the recipient wants.
    if (['not-spam', 'auth-failure', 'dkim', 'dmarc'].includes(feedbackType))
      return { kind: 'notice', what: feedbackType };
    const named = readNamed(fields, ['original-rcpt-to']);
    return { kind: 'complaint', feedbackType, mailFrom: readMailFrom(fields, parts), named };
  }
  const loop = /^(staff@hotmail\.com|scomp@aol\.net|feedbackloop@|fbl@|abuse-?report@)/i;
  const from = parseMailboxes(headerOf(mail, 'from'), 1)[0]?.address ?? '';
  const carries = parts.some(({ type }) => type === 'message/rfc822');
  if (carries && (loop.test(from) || mail.fields.has('x-hmxmroriginalrecipient')))
    return { kind: 'complaint', feedbackType: 'abuse' };
  return undefined;
}

/** RFC 5965 section 3.2, or the Return-Path of the message that the report returns (RFC 5321 section 4.4). */
function readMailFrom(report: MailFields, parts: readonly MimeEntity[]): string | undefined {
  const named = report.get('original-mail-from');
  const original = parts.find(({ type }) => /^(message\/rfc822|text\/rfc822-headers)$/.test(type));
  const [head = ''] = (original === undefined ? '' : readText(original)).split('\n\n', 1);
  const text = named ?? new MailFields(Buffer.from(head)).get('return-path') ?? '';
  return /^\s{0,10}<?([^<>\s]{1,320})>?\s{0,10}$/.exec(text)?.[1];
}

/** RFC 3834 section 5, and headers used by older programs. */
function isAutoReply(mail: MimeEntity): boolean {
  const submitted = headerOf(mail, 'auto-submitted').toLowerCase();
  if (submitted.startsWith('auto-replied')) return !bounceSenders.test(headerOf(mail, 'from'));
  if (mail.fields.has('x-failed-recipients')) return false;
  if (mail.fields.has('x-autoreply') || mail.fields.has('x-autorespond')) return true;
  if (/auto_?reply/i.test(headerOf(mail, 'precedence'))) return true;
  return autoSubjects.test(decodeWords(headerOf(mail, 'subject')));
}

type Bounce = FeedbackMail & { kind: 'bounce' };

/** A bounce or complaint as Amazon SES describes it, which SNS sends as mail to those who have no other way. */
function readNotification(words: string): FeedbackMail | undefined {
  if (!/^\s{0,10}\{/.test(words)) return undefined;
  let notification: unknown;
  try {
    // What follows says how to stop them.
    notification = JSON.parse(words.split('\n--\n', 1)[0] ?? '');
  } catch {
    return undefined;
  }
  const [event] = readSes(notification);
  if (event === undefined) return undefined;
  const { detail } = event;
  if (event.kind === 'complained')
    return { kind: 'complaint', feedbackType: textOf(detail.feedbackType).slice(0, 40) };
  const { reason, cause, permanent, status } = detail as Bounce & { readonly reason: string };
  return { kind: 'bounce', cause, permanent, status, diagnostic: reason };
}

function fromWords(mail: MimeEntity, parts: readonly MimeEntity[]): FeedbackMail {
  const from = headerOf(mail, 'from');
  const subject = decodeWords(headerOf(mail, 'subject'));
  const words = humanText(parts);
  const notification = readNotification(words);
  if (notification !== undefined) return notification;
  const looksLikeBounce =
    mail.fields.has('x-failed-recipients') ||
    bounceSenders.test(from) ||
    bounceSubjects.test(subject) ||
    /^multipart\/report\b.*delivery-status/i.test(headerOf(mail, 'content-type')) ||
    /qmail-send program/.test(words);
  if (!looksLikeBounce) return { kind: 'unknown' };
  if (isDelay(subject, words))
    return { kind: 'delay', status: undefined, diagnostic: sanitizeDiagnostic(words) };
  const bounce = classifyBounce(undefined, failureText(words), refusedAfterData(words));
  const isInconclusive = bounce.cause === 'other' && findReply(words) === undefined;
  return isInconclusive && !bounceSubjects.test(subject) ? { kind: 'unknown' } : bounce;
}

/** Programs that say in words alone that they try again. */
const retryPromises =
  /\bmessage will be retried\b|\bwill continue to (?:try|attempt)\b|\bdelivery attempts will continue\b/i;

function isDelay(subject: string, words: string): boolean {
  if (retryPromises.test(words)) return true;
  return (
    /delayed|still being (tried|retried)|warning[: ]|verzögert|retardé/i.test(subject) &&
    /(will (be retried|continue|keep trying)|still (trying|being)|do not need to resend|no action is required|not yet been delivered|wird weiter)/i.test(
      words,
    )
  );
}

/** The text about the failure, from the first line with a reply or known phrase. */
function failureText(words: string): string {
  const lines = words.split('\n');
  const first = lines.findIndex((line) => findReply(line)?.code !== undefined);
  return first === -1 ? words : lines.slice(Math.max(0, first - 1)).join('\n');
}

/** A report's human-readable text, without the returned message. */
function humanText(parts: readonly MimeEntity[]): string {
  const texts = parts
    .filter(({ type }) => type === 'text/plain' || type === '')
    .map(readText)
    // Some programs return the header of the message as a text.
    .filter((text, place) => text.trim() !== '' && (place === 0 || !beginsHeader.test(text)));
  const html = parts.find(({ type }) => type === 'text/html');
  const words =
    texts.length > 0 || html === undefined
      ? texts.join('\n')
      : htmlText(readText(html).slice(0, maxHtmlLength));
  const all = words.slice(0, maxTextLength);
  const end = originalBegins.exec(all);
  return all.slice(0, Math.min(end === null || end.index < 40 ? all.length : end.index, 20_000));
}

const beginsHeader = /^\s{0,10}(received|return-path|from|to|date|message-id|dkim-signature): /i;

function readText(part: MimeEntity): string {
  return decodedText(part, maxPartBytes).replaceAll('\r\n', '\n');
}

function headerOf({ fields }: MimeEntity, name: string): string {
  return (fields.get(name) ?? '').slice(0, maxFieldLength);
}

/** One recipient of a delivery status notification (RFC 3464 section 2.3). */
interface RecipientStatus {
  /** failed, delayed, delivered, relayed or expanded; in lower case. */
  readonly action: string;
  /** RFC 3463, if the report has one. */
  readonly status: string | undefined;
  /** The diagnostic code's text without its type. */
  readonly diagnostic: string;
  readonly named: readonly string[];
}

const maxGroups = 101;
const maxDiagnosticLength = 4_000;
/** RFC 3463 section 3.5: the delivery time expired. Some programs write it as the action. */
const expired = '5.4.7';

const statusPattern = /\b([245]\.\d{1,3}\.\d{1,3})\b/;

/** Parses the recipients of a `message/delivery-status` part. If Action is missing, it is derived from the status. */
export function readDeliveryStatus(text: string): RecipientStatus[] {
  const groups = text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .slice(0, maxGroups)
    .map((group) => new MailFields(Buffer.from(group)));
  return groups
    .filter(
      (group) =>
        group.has('final-recipient') ||
        group.has('original-recipient') ||
        group.has('status') ||
        group.has('action'),
    )
    .map((group) => {
      const status = statusPattern.exec(group.get('status') ?? '')?.[1];
      const diagnostic = (group.get('diagnostic-code') ?? '')
        .slice(0, maxDiagnosticLength)
        .replace(/^[\w.-]{1,40}\s*;\s*/, '');
      const named = readNamed(group, ['original-recipient', 'final-recipient']);
      const given = /^[a-z]{1,40}/.exec((group.get('action') ?? '').toLowerCase())?.[0];
      if (given === 'expired')
        return { action: 'failed', status: status ?? expired, diagnostic, named };
      return { action: given ?? actionOf(status), status, diagnostic, named };
    });
}

/** Addresses in fields such as `rfc822; <ann@people.test>` (RFC 3464 section 2.3.1, RFC 5965 section 3.2), in lower case. */
function readNamed(fields: MailFields, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const text = (fields.get(name) ?? '').slice(0, maxFieldLength).replace(/^[\w-]{1,40}\s*;/, '');
    const [, address] =
      /^\s{0,10}<?([^\s<>@\\;]{1,64}@[^\s<>@\\;]{1,255})>?\s{0,10}$/.exec(text) ?? [];
    return address === undefined ? [] : lowerCase(address);
  });
}

function actionOf(status: string | undefined): string {
  if (status?.startsWith('2') === true) return 'delivered';
  return status?.startsWith('4') === true ? 'delayed' : 'failed';
}
