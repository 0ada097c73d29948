import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { InvalidImportFile, type RowReader, stripFormulaGuard } from '../import/import-csv.ts';

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
  if (emailColumn === -1) throw new InvalidImportFile('The email column is missing');
  return {
    read(record) {
      if (record.length !== columns.length)
        return `has ${record.length} columns instead of ${columns.length}`;
      const parsed = parseEmailAddress(stripFormulaGuard(record[emailColumn] ?? '').trim());
      if (!parsed.ok) return `the address ${parsed.reason}`;
      const fields: Record<string, string> = {};
      columns.forEach((name, index) => {
        if (index !== emailColumn)
          fields[name] = stripFormulaGuard(record[index] ?? '').toWellFormed();
      });
      return { email: normalizeAddress(parsed.address), fields };
    },
    keyOf: ({ email }) => email,
  };
}
