import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { InvalidImportFile, type RowReader, stripFormulaGuard } from '../import/import-csv.ts';

/**
 * Reads suppressions from rows as the export writes them. Only the column `address` must be there; a missing reason means
 * `manual`.
 * @throws UnusableFile
 */
export function suppressionRowReader(columns: readonly string[]): RowReader<NewSuppression> {
  const columnIndexes = new Map(columns.map((name, index) => [name.toLowerCase(), index]));
  if (!columnIndexes.has('address')) throw new InvalidImportFile('No column is called address');
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const parsed = parseEmailAddress(stripFormulaGuard(cell('address')));
      if (!parsed.ok) return `the address ${parsed.reason}`;
      const reason = parseSuppressionReason(cell('reason') || 'manual');
      if (reason === undefined)
        return 'the reason is none of hard_bounce, complaint, unsubscribe, manual';
      const expires = cell('expires_at');
      const expiresAt = parseTimestamp(expires);
      if (expires !== '' && expiresAt === undefined) return 'expires_at is no time';
      return {
        address: normalizeAddress(parsed.address),
        reason,
        messageId: parseMessageId(cell('message_id')),
        expiresAt,
      };
    },
    keyOf: ({ address, reason }) => `${address} ${reason}`,
  };
}
