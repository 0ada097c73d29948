import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { missingColumn, type RowReader, stripFormulaGuard } from '../import/import-csv.ts';

/**
 * Reads suppressions from rows in the export format. Only the `address` column is required; a missing reason defaults to
 * `manual`.
 * @throws InvalidImportFile
 */
export function suppressionRowReader(columns: readonly string[]): RowReader<NewSuppression> {
  const columnIndexes = new Map(columns.map((name, index) => [name.toLowerCase(), index]));
  if (!columnIndexes.has('address')) throw missingColumn('address', columns);
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const parsed = parseEmailAddress(stripFormulaGuard(cell('address')));
      if (!parsed.ok) return `The address ${parsed.reason}`;
      const reason = parseSuppressionReason(cell('reason') || 'manual');
      if (reason === undefined)
        return 'The reason must be hard_bounce, complaint, unsubscribe or manual';
      const expires = cell('expires_at');
      const expiresAt = parseTimestamp(expires);
      if (expires !== '' && expiresAt === undefined)
        return 'expires_at must be a time such as 2026-12-31T00:00:00Z';
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
