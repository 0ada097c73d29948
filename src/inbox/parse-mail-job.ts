import { decodeWords } from '../foundation/mime/decode-words.ts';
import type { MailFields } from '../foundation/mime/header-fields.ts';
import { toBuffer } from '../foundation/mime/mail-threads.ts';
import { readEntity } from '../foundation/mime/mime-entity.ts';
import { readMail } from '../foundation/mime/read-mail.ts';
import { TooManyParts } from '../foundation/mime/walk-parts.ts';
import type { MailContent, MailHeaderField } from './inbox-message.ts';

/** Fields of a header that are kept; no program writes nearly as many. */
const maxFields = 1_000;

/** Reads a message: its header fields, and its texts as sent, neither derived from the other. */
export function parseMailJob({ source }: { readonly source: Uint8Array }): MailContent {
  const bytes = toBuffer(source);
  const content = unreadContent(bytes);
  try {
    const { text, html } = readMail(bytes);
    return {
      ...content,
      html: html === undefined ? null : storable(html),
      text: text === undefined || text === '' ? null : storable(text),
      unread: false,
    };
  } catch (error) {
    if (error instanceof TooManyParts) return content;
    throw error;
  }
}

/** A message of which only the header is read. */
export function unreadContent(source: Buffer): MailContent {
  const headers = describeFields(readEntity(source).fields);
  const subject = headers.find(([name]) => name.toLowerCase() === 'subject')?.[1] ?? '';
  return { headers, subject, html: null, text: null, unread: true };
}

/** In order, unfolded (RFC 5322 section 2.2.3), with encoded words decoded (RFC 2047). */
function describeFields({ all }: MailFields): MailHeaderField[] {
  return all
    .filter(({ name }) => name !== '')
    .slice(0, maxFields)
    .map(({ name, value, raw }) => [raw.slice(0, name.length), storable(decodeWords(value))]);
}

/** Removes what PostgreSQL can't store in text: NUL and unpaired surrogates. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
