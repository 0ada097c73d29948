import { decodeWords } from '../../src/base/mime/decode.ts';
import type { MailFields } from '../../src/base/mime/header-fields.ts';
import { readEntity } from '../../src/base/mime/mime-entity.ts';
import { parseMailboxes, type WrittenMailbox } from '../../src/base/mime/parse-mailboxes.ts';
import { type MailBody, readMail } from '../../src/base/mime/read-mail.ts';

/** A mail as a recipient's program reads it. */
export interface ReadMail extends MailBody {
  readonly fields: MailFields;
  /** Decoded; empty if there is none. */
  readonly subject: string;
  /** The mailboxes of a field. */
  mailboxes(name: string): WrittenMailbox[];
  /** A decoded field; undefined if there is none. */
  decoded(name: string): string | undefined;
}

export function readSentMail(source: Buffer | string): ReadMail {
  const bytes = Buffer.from(source);
  const { fields } = readEntity(bytes);
  const decoded = (name: string): string | undefined => {
    const value = fields.get(name.toLowerCase());
    return value === undefined ? undefined : decodeWords(value);
  };
  return {
    ...readMail(bytes),
    fields,
    subject: decoded('subject') ?? '',
    decoded,
    mailboxes: (name) => parseMailboxes(fields.get(name) ?? '', 1_000),
  };
}
