import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import {
  missingColumn,
  type RowReader,
  rejectionColumns,
  stripFormulaGuard,
} from '../import/import-csv.ts';

/** A contact to write. */
interface ImportedContact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Reads contacts from rows with an `email` column (case-insensitive); all other columns are fields.
 * @throws InvalidImportFile
 */
export function contactRowReader(columns: readonly string[]): RowReader<ImportedContact> {
  const emailColumn = columns.findIndex((name) => name.toLowerCase() === 'email');
  if (emailColumn === -1) throw missingColumn('email', columns);
  const fieldColumns = columns
    .map((name, index) => ({ name, index }))
    .filter(
      ({ name, index }) => index !== emailColumn && !rejectionColumns.some((one) => one === name),
    );
  return {
    read(record) {
      if (record.length !== columns.length)
        return `The row has ${countColumns(record)}, but the header has ${countColumns(columns)}`;
      const parsed = parseEmailAddress(stripFormulaGuard(record[emailColumn] ?? '').trim());
      if (!parsed.ok) return `The address ${parsed.reason}`;
      const fields: Record<string, string> = {};
      for (const { name, index } of fieldColumns)
        fields[name] = stripFormulaGuard(record[index] ?? '').toWellFormed();
      return { email: normalizeAddress(parsed.address), fields };
    },
    keyOf: ({ email }) => email,
  };
}

function countColumns({ length }: readonly string[]): string {
  return length === 1 ? '1 column' : `${length} columns`;
}
