import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import {
  describeMissingColumn,
  findUndecoded,
  withoutFormulaGuard,
} from '../../foundation/csv-line.ts';
import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';

/**
 * Reads suppressions from rows in the export format. Only the `address` column is required; a missing reason defaults to
 * `manual`.
 * @throws InvalidImportFile
 */
export function suppressionRowReader(columns: readonly string[]): RowReader<NewSuppression> {
  const names = columns.map((name) => name.trim().toLowerCase());
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    throw new InvalidImportFile(`Two columns are named “${repeated}”. Rename one`);
  const columnIndexes = new Map(names.map((name, index) => [name, index]));
  if (!columnIndexes.has('address'))
    throw new InvalidImportFile(describeMissingColumn('address', columns));
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const unreadable = findUndecoded(record);
      if (unreadable !== undefined) return unreadable;
      const parsed = parseEmailAddress(withoutFormulaGuard(cell('address')));
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
