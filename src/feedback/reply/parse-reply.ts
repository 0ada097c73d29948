import type { AddressObject, Attachment, ParsedMail } from 'mailparser';
import { decodeWords } from '../../foundation/decode-words.ts';
import { readHeaders } from '../bounce/read-mime.ts';
import { isAutomatic, readAutoSubmitted } from './find-automatic.ts';
import type { ParsedReply, ParsedReplyPart, ReplyHead, ReplyMailbox } from './reply-content.ts';
import { maxReplyAttachments } from './reply-limits.ts';

/** Bytes of a header that are read. */
const maxHeadBytes = 256 * 1_024;
const maxMailboxes = 50;
const maxReferences = 50;
/** Characters of a name, an identifier and the subject. */
const maxName = 200;
const maxIdentifier = 500;
const maxSubject = 1_000;
const maxFilename = 255;
const maxContentType = 127;

/**
 * Parses a reply (RFC 5322, MIME). If it can't be parsed or has too many attachments, the whole mail becomes its only
 * attachment, so nothing is lost.
 * @param envelopeFrom MAIL FROM; empty: none
 */
export async function parseReplyMail(source: Buffer, envelopeFrom: string): Promise<ParsedReply> {
  const headers = readHeaders(readHead(source));
  const automatic = isAutomatic(headers, envelopeFrom);
  const mail = await parse(source);
  const head = describeHead(headers, mail);
  if (mail === undefined) return { head, automatic, parts: [wholeMail(source)] };
  const texts = [
    ...textPart('text', mail.text),
    ...textPart('html', mail.html === false ? undefined : mail.html),
  ];
  const attachments =
    mail.attachments.length > maxReplyAttachments
      ? [wholeMail(source)]
      : mail.attachments.map(describeAttachment);
  return { head, automatic, parts: [...texts, ...attachments] };
}

/** A reply that took too long to parse: only its header is read. */
export function describeUnparsed(source: Buffer, envelopeFrom: string): ParsedReply {
  const headers = readHeaders(readHead(source));
  return {
    head: describeHead(headers, undefined),
    automatic: isAutomatic(headers, envelopeFrom),
    parts: [wholeMail(source)],
  };
}

/** The header as text, with one character per byte and LF line ends. */
export function readHead(source: Buffer): string {
  const start = source.toString('latin1', 0, maxHeadBytes).replaceAll('\r\n', '\n');
  if (start.startsWith('\n')) return '';
  const end = start.indexOf('\n\n');
  return end === -1 ? start : start.slice(0, end);
}

async function parse(source: Buffer): Promise<ParsedMail | undefined> {
  // Imported on first use, so that startup is faster.
  const { simpleParser } = await import('mailparser');
  try {
    return await simpleParser(source, {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
      keepCidLinks: true,
    });
  } catch {
    return undefined;
  }
}

function describeHead(
  headers: ReadonlyMap<string, readonly string[]>,
  mail: ParsedMail | undefined,
): ReplyHead {
  const rawSubject = headers.get('subject')?.[0] ?? '';
  return {
    from: mailboxesOf(mail?.from)[0] ?? null,
    to: mailboxesOf(mail?.to),
    cc: mailboxesOf(mail?.cc),
    replyTo: mailboxesOf(mail?.replyTo),
    subject: cut(mail?.subject ?? decodeWords(utf8(rawSubject)), maxSubject),
    date: dateOf(headers.get('date')?.[0]),
    messageId: identifierOf(headers.get('message-id')?.[0]),
    inReplyTo: identifierOf(headers.get('in-reply-to')?.[0]),
    references: (headers.get('references')?.[0] ?? '')
      .split(/\s+/)
      .filter((text) => text !== '')
      .slice(-maxReferences)
      .map((text) => cut(utf8(text), maxIdentifier)),
    autoSubmitted: readAutoSubmitted(headers) ?? null,
  };
}

function mailboxesOf(field: AddressObject | AddressObject[] | undefined): ReplyMailbox[] {
  return [field ?? []]
    .flat()
    .flatMap(({ value }) => value.flatMap((mailbox) => mailbox.group ?? mailbox))
    .filter(({ address }) => address !== undefined && address !== '')
    .slice(0, maxMailboxes)
    .map(({ address, name }) => ({
      address: cut(address ?? '', maxIdentifier),
      name: cut(name, maxName),
    }));
}

function dateOf(text: string | undefined): string | null {
  const date = new Date(text ?? '');
  if (Number.isNaN(date.getTime())) return null;
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9_999 ? date.toISOString() : null;
}

function identifierOf(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : cut(utf8(text.trim()), maxIdentifier);
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

function describeAttachment(attachment: Attachment, index: number): ParsedReplyPart {
  const { filename, contentType, contentId, content } = attachment;
  const type = cut(contentType ?? '', maxContentType).toLowerCase();
  return {
    kind: 'attachment',
    filename:
      cut(filename ?? '', maxFilename).replaceAll(/[/\\\p{Cc}]/gu, '_') ||
      `attachment-${index + 1}`,
    contentType: /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : 'application/octet-stream',
    contentId: contentId === undefined ? null : cut(contentId.replace(/^<|>$/g, ''), maxIdentifier),
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

/** Header text of one character per byte, which may contain raw UTF-8 (RFC 6532). */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

function cut(text: string, length: number): string {
  return clean(text.slice(0, length));
}

/** Removes what JSON in PostgreSQL can't store. */
function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
