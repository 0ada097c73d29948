import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { InvalidImportFile, type RowReader, stripFormulaGuard } from '../import/import-csv.ts';

/**
 * Reads suppressions from rows in the export format. Only the `address` column is required; a missing reason defaults to
 * `manual`.
 * @throws InvalidImportFile
 */
export function suppressionRowReader(columns: readonly string[]): RowReader<NewSuppression> {
  const columnIndexes = new Map(columns.map((name, index) => [name.toLowerCase(), index]));
  if (!columnIndexes.has('address')) throw new InvalidImportFile('The address column is missing');
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const parsed = parseEmailAddress(stripFormulaGuard(cell('address')));
      if (!parsed.ok) return `the address ${parsed.reason}`;
      const reason = parseSuppressionReason(cell('reason') || 'manual');
      if (reason === undefined)
        return 'the reason must be hard_bounce, complaint, unsubscribe or manual';
      const expires = cell('expires_at');
      const expiresAt = parseTimestamp(expires);
      if (expires !== '' && expiresAt === undefined) return 'expires_at must be a time';
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
