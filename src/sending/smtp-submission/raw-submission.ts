import type { HeaderField } from '../../base/mime/header-fields.ts';
import { domainOf } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import { maxRawSubject } from '../../content/message/raw-message.ts';
import { mailDate } from '../../content/rendering/message-headers.ts';
import type { CustomHeaderRules } from '../submission/custom-headers.ts';
import type { RawMessage } from '../submission/send-raw.ts';
import { controlFields, controlPrefix } from './read-control-fields.ts';
import { singleField, textOfField } from './read-message-head.ts';
import type { ReceivedMessage } from './template-submission.ts';
import { readOptionalMailbox, toRequestOptions } from './template-submission.ts';

/** The client and its session, for the trace field. */
export interface SubmissionTrace {
  /** As the client calls itself. */
  readonly helo: string;
  readonly remoteAddress: string;
  readonly sessionId: string;
  /** Our own name. */
  readonly hostname: string;
  readonly usesUtf8: boolean;
  readonly receivedAt: Date;
}

/** Removed before sending: Bcc must stay hidden, and the last server writes the return path (RFC 5321 section 4.4). */
const removedNames = ['bcc', 'resent-bcc', 'return-path'];
/** The service writes its own for messages that aren't transactional. */
const unsubscribeNames = ['list-unsubscribe', 'list-unsubscribe-post'];

const wordsNotStorable = /\0/g;

/**
 * Turns a submission without a template into a raw message: unchanged, except for fields that are removed before sending and
 * those that RFC 6409 section 8 lets a submission server add.
 * @param trace without a session for a message that didn't come over SMTP
 * @throws Fault VALIDATION_FAILED
 */
export function toRawMessage(
  { message, control, recipients, idempotencyKey }: ReceivedMessage,
  trace: SubmissionTrace | Pick<SubmissionTrace, 'receivedAt'>,
  headerRules: Pick<CustomHeaderRules, 'isReserved'>,
): RawMessage {
  const { fields, body } = message;
  const details: FaultDetail[] = findProblems(fields, headerRules);
  if (control.locale !== undefined)
    details.push({ field: controlFields.locale.name, reason: 'needs X-Signalpost-Template' });
  if (control.receiveReplies && has(fields, 'reply-to'))
    details.push({
      field: controlFields.receiveReplies.name,
      reason: 'can’t be used together with Reply-To; remove one of them',
    });
  const from = readOptionalMailbox(message, 'From');
  if (from === undefined) details.push({ field: 'From', reason: 'is required' });
  if (details.length > 0 || from === undefined) throw new Fault('VALIDATION_FAILED', { details });
  const replyTo = readOptionalMailbox(message, 'Reply-To');
  const sender = readOptionalMailbox(message, 'Sender');
  const [to, ...otherRecipients] = recipients;
  const subject = singleField(fields, 'Subject');
  const removed = [...removedNames, ...(control.transactional ? [] : unsubscribeNames)];
  const kept = fields.filter(
    ({ name }) => !removed.includes(name) && !name.startsWith(controlPrefix),
  );
  const added = [
    ...('sessionId' in trace ? [receivedField(trace)] : []),
    ...(has(fields, 'date') ? [] : [`Date: ${mailDate(trace.receivedAt)}\r\n`]),
    ...(has(fields, 'message-id')
      ? []
      : [`Message-ID: <${newId()}@${domainOf(from.address)}>\r\n`]),
  ];
  return {
    source: Buffer.concat([
      Buffer.from(added.join(''), 'latin1'),
      ...kept.map(({ raw }) => Buffer.from(fold(raw), 'latin1')),
      Buffer.from('\r\n'),
      body,
    ]),
    subject: (subject === undefined ? '' : textOfField(subject))
      .replace(wordsNotStorable, '\u{fffd}')
      .toWellFormed()
      .slice(0, maxRawSubject)
      .toWellFormed(),
    request: {
      envelope: {
        toAddress: to,
        fromAddress: from.address,
        fromDisplayName: from.name,
        replyToAddress: replyTo?.address,
      },
      ...toRequestOptions(control),
    },
    moreSenders: sender === undefined ? [] : [sender.address],
    otherRecipients,
    idempotencyKey,
  };
}

/** Fields that mail programs must agree about (RFC 5322 section 3.6), and those that relays act on. */
function findProblems(
  fields: readonly HeaderField[],
  headerRules: Pick<CustomHeaderRules, 'isReserved'>,
): FaultDetail[] {
  for (const name of ['Subject', 'Date', 'Message-ID', 'To', 'Cc', 'Content-Type'])
    singleField(fields, name);
  return fields
    .filter(({ name }) => !name.startsWith(controlPrefix) && headerRules.isReserved(name))
    .map(({ name }) => ({ field: name, reason: 'is reserved; remove it' }));
}

function has(fields: readonly HeaderField[], name: string): boolean {
  return fields.some((field) => field.name === name);
}

/** RFC 5321 section 4.4, with the protocol name of RFC 3848 or RFC 6531 section 4.3. */
function receivedField(trace: SubmissionTrace): string {
  const protocol = trace.usesUtf8 ? 'UTF8SMTPSA' : 'ESMTPSA';
  const helo = trace.helo.replace(/[^A-Za-z0-9.:[\]_-]/g, '?').slice(0, 255) || 'unknown';
  const address = trace.remoteAddress.includes(':')
    ? `IPv6:${trace.remoteAddress}`
    : trace.remoteAddress;
  return [
    `Received: from ${helo} ([${address}])`,
    ` by ${trace.hostname} with ${protocol} id ${trace.sessionId};`,
    ` ${mailDate(trace.receivedAt)}\r\n`,
  ].join('\r\n');
}

/** RFC 5322 section 2.1.1: a server may break longer lines, which would break the signature. */
const maxLineLength = 998;
const foldedLength = 78;

/** A field with its long lines folded at blanks (RFC 5322 section 2.2.3); a word that is longer stays whole. */
function fold(raw: string): string {
  if (raw.length <= maxLineLength) return raw;
  return raw
    .split(/(?<=\r\n)/)
    .map((line) => (line.length > maxLineLength + 2 ? foldLine(line.trimEnd()) : line))
    .join('');
}

function foldLine(line: string): string {
  let result = '';
  let start = 0;
  let blank = 0;
  let hasWord = false;
  for (let at = 0; at <= line.length; at += 1) {
    const character = line.charAt(at);
    const isBlank = character === ' ' || character === '\t' || at === line.length;
    if (!isBlank) hasWord = true;
    // A line of blanks alone would end the header for some programs.
    if (!isBlank || !hasWord || line.charAt(at - 1) === ':') continue;
    if (at - start > foldedLength && blank > start) {
      result += `${line.slice(start, blank)}\r\n`;
      start = blank;
    }
    blank = at;
  }
  return `${result}${line.slice(start)}\r\n`;
}
