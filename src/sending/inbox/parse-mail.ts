import { decodeWords } from '../../base/mime/decode.ts';
import type { MailFields } from '../../base/mime/header-fields.ts';
import { type MailTurn, mailJob } from '../../base/mime/mail-threads.ts';
import { readEntity, TooManyParts } from '../../base/mime/mime-entity.ts';
import { readMail } from '../../base/mime/read-mail.ts';
import { Busy } from '../../base/values/errors.ts';
import type { MailContent, MailHeaderField } from './inbox-message.ts';

/** Fields of a header that are kept; no program writes nearly as many. */
const maxFields = 1_000;

/** Reads a message: its header fields, and its texts as sent, neither derived from the other. */
export function parseMailJob({ source }: { readonly source: Buffer }): MailContent {
  const content = unreadContent(source);
  try {
    const { text, html } = readMail(source);
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

const parse = mailJob(parseMailJob, import.meta.url);

/**
 * Reads a message; if that takes too much time or memory, only its header.
 * @throws Busy if too many wait
 */
export async function parseMail(source: Buffer, turn: MailTurn): Promise<MailContent> {
  try {
    return await parse({ source }, turn);
  } catch (error) {
    if (error instanceof Busy) throw error;
    return unreadContent(source);
  }
}

/** A message of which only the header is read. */
function unreadContent(source: Buffer): MailContent {
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
