import { normaliseAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { plainValue, type RowReader, UnusableFile } from '../import/import-csv.ts';

/** A contact as it is written. */
export interface ImportedContact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Reads contacts from rows of which one column is `email`, in any case; the others are fields.
 * @throws UnusableFile
 */
export function contactRows(columns: readonly string[]): RowReader<ImportedContact> {
  const place = columns.findIndex((name) => name.toLowerCase() === 'email');
  if (place === -1) throw new UnusableFile('No column is called email');
  return {
    read(record) {
      if (record.length !== columns.length)
        return `has ${record.length} columns, the header row ${columns.length}`;
      const parsed = parseEmailAddress(plainValue(record[place] ?? '').trim());
      if (!parsed.ok) return `the address ${parsed.reason}`;
      const fields: Record<string, string> = {};
      columns.forEach((name, at) => {
        if (at !== place) fields[name] = plainValue(record[at] ?? '').toWellFormed();
      });
      return { email: normaliseAddress(parsed.address), fields };
    },
    keyOf: ({ email }) => email,
  };
}
