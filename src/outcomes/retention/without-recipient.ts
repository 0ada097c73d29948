import type { HeaderField } from '../../base/mime/header-fields.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import {
  type ComparableAddress,
  comparableAddress,
  type EmailAddress,
} from '../../base/values/email-address.ts';
import { mailboxHeader } from '../../content/rendering/message-headers.ts';

/** Fields that list recipients (RFC 5322 section 3.6). */
const recipientFields: readonly string[] = ['To', 'Cc', 'Reply-To', 'Resent-To', 'Resent-Cc'];
/** More than a header of a submission has room for. */
const maxMailboxes = 50_000;

/** A complete message whose header doesn't list an address among its recipients; one that doesn't anyway stays as it is. */
export function withoutRecipient(source: Buffer, address: ComparableAddress): Buffer {
  const { all } = readEntity(source).fields;
  const head = all.map((field) => withoutMailbox(field, address)).join('');
  const headEnd = all.reduce((length, { raw }) => length + raw.length, 0);
  return Buffer.concat([Buffer.from(head, 'latin1'), source.subarray(headEnd)]);
}

function withoutMailbox({ name, value, raw }: HeaderField, address: ComparableAddress): string {
  const written = recipientFields.find((field) => field.toLowerCase() === name);
  if (written === undefined) return raw;
  const mailboxes = parseMailboxes(value, maxMailboxes);
  const others = mailboxes.filter((mailbox) => comparableAddress(mailbox.address) !== address);
  if (others.length === mailboxes.length) return raw;
  if (others.length === 0) return '';
  const header = mailboxHeader(
    written,
    others.map((mailbox) => ({
      address: mailbox.address as EmailAddress,
      displayName: mailbox.name,
    })),
  );
  return `${Buffer.from(header).toString('latin1')}\r\n`;
}
