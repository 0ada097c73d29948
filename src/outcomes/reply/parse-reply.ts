import { decodeWords } from '../../base/mime/decode.ts';
import type { MailFields } from '../../base/mime/header-fields.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { readEntity, TooManyParts } from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import { type MailFile, readMail } from '../../base/mime/read-mail.ts';
import type { ParsedReply, ParsedReplyPart, ReplyHead, ReplyMailbox } from './reply-content.ts';
import { maxReplyAttachments } from './reply-limits.ts';

const maxMailboxes = 50;
const maxReferences = 50;
/** Characters of a name, an identifier and the subject. */
const maxName = 200;
const maxIdentifier = 500;
const maxSubject = 1_000;
const maxDate = 100;
const maxFilename = 255;
const maxContentType = 127;

interface ReplyMail {
  readonly source: Buffer;
  /** MAIL FROM; empty: none. */
  readonly envelopeFrom: string;
}

/**
 * Parses a reply (RFC 5322, MIME). If it can't be read or has too many attachments, the whole mail becomes its only
 * attachment, so nothing is lost.
 */
export function parseReplyMail({ source, envelopeFrom }: ReplyMail): ParsedReply {
  const unread = describeUnread(source, envelopeFrom);
  try {
    const { text, html, files } = readMail(source);
    const attachments =
      files.length > maxReplyAttachments ? [wholeMail(source)] : files.map(describeAttachment);
    const parts = [...textPart('text', text), ...textPart('html', html), ...attachments];
    return { ...unread, unread: false, parts };
  } catch (error) {
    if (error instanceof TooManyParts) return unread;
    throw error;
  }
}

export const readReplyMail = mailJob(parseReplyMail, import.meta.url);

/** A reply of which only the header is read. */
export function describeUnread(source: Buffer, envelopeFrom: string): ParsedReply {
  const { fields } = readEntity(source);
  return {
    head: describeHead(fields),
    automatic: isAutomatic(fields, envelopeFrom),
    unread: true,
    parts: [wholeMail(source)],
  };
}

function describeHead(fields: MailFields): ReplyHead {
  const mailboxes = (name: string): ReplyMailbox[] =>
    parseMailboxes(fields.get(name) ?? '', maxMailboxes).map(({ address, name: written }) => ({
      address: cut(address, maxIdentifier),
      name: cut(written, maxName),
    }));
  return {
    from: mailboxes('from')[0] ?? null,
    to: mailboxes('to'),
    cc: mailboxes('cc'),
    replyTo: mailboxes('reply-to'),
    subject: cut(decodeWords(fields.get('subject') ?? ''), maxSubject),
    date: dateOf(fields.get('date')),
    messageId: identifierOf(fields.get('message-id')),
    inReplyTo: identifierOf(fields.get('in-reply-to')),
    references: (fields.get('references') ?? '')
      .split(/\s+/)
      .filter((text) => text !== '')
      .slice(-maxReferences)
      .map((text) => cut(text, maxIdentifier)),
    autoSubmitted: readAutoSubmitted(fields) ?? null,
  };
}

function dateOf(text: string | undefined): string | null {
  const date = new Date((text ?? '').slice(0, maxDate));
  if (Number.isNaN(date.getTime())) return null;
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9_999 ? date.toISOString() : null;
}

function identifierOf(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : cut(text, maxIdentifier);
}

function textPart(kind: 'text' | 'html', text: string | undefined): ParsedReplyPart[] {
  if (text === undefined || text === '') return [];
  return [
    {
      kind,
      filename: kind === 'text' ? 'reply.txt' : 'reply.html',
      contentType: kind === 'text' ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8',
      contentId: null,
      content: Buffer.from(clean(text)),
    },
  ];
}

function describeAttachment(file: MailFile, index: number): ParsedReplyPart {
  const { filename, contentId, content } = file;
  const type = cut(file.type, maxContentType);
  return {
    kind: 'attachment',
    filename:
      cut(filename ?? '', maxFilename).replaceAll(/[/\\\p{Cc}]/gu, '_') ||
      `attachment-${index + 1}`,
    contentType: /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : 'application/octet-stream',
    contentId: contentId === undefined ? null : cut(contentId, maxIdentifier),
    content,
  };
}

function wholeMail(source: Buffer): ParsedReplyPart {
  return {
    kind: 'attachment',
    filename: 'message.eml',
    contentType: 'message/rfc822',
    contentId: null,
    content: source,
  };
}

function cut(text: string, length: number): string {
  return clean(text.slice(0, length));
}

/** Removes what JSON in PostgreSQL can't store. */
function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** The keyword of Auto-Submitted (RFC 3834 section 5), in lower case; undefined if there is none. */
function readAutoSubmitted(fields: MailFields): string | undefined {
  const [keyword = ''] = headerOf(fields, 'auto-submitted').toLowerCase().split(';');
  return keyword.trim().slice(0, 100) || undefined;
}

/**
 * True if a program wrote the mail, so programs shouldn't reply to it: it says so (RFC 3834 section 5), has an empty return path
 * (RFC 3834 section 3.3, RFC 5321 section 4.5.5), is from a list (RFC 2919), or has one of the older fields with this meaning.
 * @param envelopeFrom MAIL FROM; empty: none
 */
function isAutomatic(fields: MailFields, envelopeFrom: string): boolean {
  if (envelopeFrom === '') return true;
  const submitted = readAutoSubmitted(fields);
  if (submitted !== undefined && submitted !== 'no') return true;
  const precedence = headerOf(fields, 'precedence');
  if (/^\s*(bulk|list|junk|auto[-_]?reply)\b/i.test(precedence)) return true;
  if (/^\s*multipart\/report\b/i.test(headerOf(fields, 'content-type'))) return true;
  const suppress = headerOf(fields, 'x-auto-response-suppress');
  if (suppress !== '' && !/^\s*none\s*$/i.test(suppress)) return true;
  return (
    automaticFields.some((name) => fields.has(name)) ||
    automaticSubject.test(decodeWords(headerOf(fields, 'subject')))
  );
}

const automaticFields = [
  'list-id',
  'x-autoreply',
  'x-autoreply-from',
  'x-autorespond',
  'x-vacation',
];

/** How programs that set no field begin their subjects. */
const automaticSubject =
  /^\s*(?:auto(?:matic)?[ -]?(?:reply|response)|auto|out of (?:the )?office(?: auto-?reply)?|automatische (?:antwort|reactie)|abwesenheitsnotiz|réponse automatique|respuesta automática|risposta automatica|resposta automática)\s*:/i;

const maxFieldLength = 4_000;

function headerOf(fields: MailFields, name: string): string {
  return (fields.get(name) ?? '').slice(0, maxFieldLength);
}
