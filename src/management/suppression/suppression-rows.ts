import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import { normaliseAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseMoment } from '../../foundation/parse-moment.ts';
import { plainValue, type RowReader, UnusableFile } from '../import/import-csv.ts';

/**
 * Reads suppressions from rows as the export writes them. Only the column `address` must be there; a missing reason means
 * `manual`.
 * @throws UnusableFile
 */
export function suppressionRows(columns: readonly string[]): RowReader<NewSuppression> {
  const places = new Map(columns.map((name, place) => [name.toLowerCase(), place]));
  if (!places.has('address')) throw new UnusableFile('No column is called address');
  return {
    read(record) {
      const cell = (name: string) => (record[places.get(name) ?? -1] ?? '').trim();
      const parsed = parseEmailAddress(plainValue(cell('address')));
      if (!parsed.ok) return `the address ${parsed.reason}`;
      const reason = parseSuppressionReason(cell('reason') || 'manual');
      if (reason === undefined)
        return 'the reason is none of hard_bounce, complaint, unsubscribe, manual';
      const expires = cell('expires_at');
      const expiresAt = parseMoment(expires);
      if (expires !== '' && expiresAt === undefined) return 'expires_at is no time';
      return {
        address: normaliseAddress(parsed.address),
        reason,
        messageId: parseMessageId(cell('message_id')),
        expiresAt,
      };
    },
    keyOf: ({ address, reason }) => `${address} ${reason}`,
  };
}
