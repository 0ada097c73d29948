import { parse } from 'csv-parse/sync';
import type { Database } from '../../foundation/database/open-database.ts';
import { normaliseAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { type AccountId, parseMessageId } from '../../foundation/ids.ts';
import { csvLine } from '../csv-line.ts';
import { type NewSuppression, parseSuppressionReason, type Suppression } from './suppression.ts';
import { addSuppressions, listSuppressions } from './suppression-store.ts';

/** Columns of the export, which the import reads back; only `address` must be there. */
const columns = ['address', 'reason', 'message_id', 'created_at', 'expires_at'] as const;

/** Characters and lines of one import. */
const longestImport = 50_000_000;
const mostLines = 1_000_000;
const linesPerStatement = 5_000;
const mostProblems = 100;

/** What an import came to. Lines with problems are left out, the others count. */
export interface SuppressionImport {
  readonly added: number;
  readonly known: number;
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
}

/**
 * Reads a CSV (RFC 4180) with a header line and adds what it names; a missing reason means `manual`.
 * @throws RangeError where it is too large or is no CSV; nothing is added then
 */
export async function importSuppressions(
  database: Pick<Database, 'kysely'>,
  accountId: AccountId,
  csv: string,
): Promise<SuppressionImport> {
  const problems: { line: number; reason: string }[] = [];
  const entries: NewSuppression[] = [];
  readRecords(csv).forEach((record, index) => {
    const entry = readEntry(record);
    if (typeof entry !== 'string') entries.push(entry);
    else if (problems.length < mostProblems) problems.push({ line: index + 2, reason: entry });
  });
  let added = 0;
  for (let from = 0; from < entries.length; from += linesPerStatement) {
    const part = entries.slice(from, from + linesPerStatement);
    added += await addSuppressions(database.kysely, accountId, part);
  }
  return { added, known: entries.length - added, problems };
}

function readRecords(csv: string): Record<string, string>[] {
  if (csv.length > longestImport) throw new RangeError('the file is larger than 50 MB');
  let records: Record<string, string>[];
  try {
    records = parse(csv, {
      bom: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      to: mostLines + 1,
      columns: (names: string[]) => names.map((name) => name.toLowerCase()),
    });
  } catch (cause) {
    throw new RangeError('the file is no CSV with a header line', { cause });
  }
  if (records.length > mostLines) throw new RangeError(`the file has over ${mostLines} lines`);
  const [first] = records;
  if (first !== undefined && !Object.hasOwn(first, 'address'))
    throw new RangeError('the header line names no column "address"');
  return records;
}

function readEntry(record: Readonly<Record<string, string>>): NewSuppression | string {
  // The export puts an apostrophe before what a spreadsheet would run.
  const parsed = parseEmailAddress((record.address ?? '').replace(/^'(?=[=+-])/, ''));
  if (!parsed.ok) return `the address ${parsed.reason}`;
  const reason = parseSuppressionReason(record.reason || 'manual');
  if (reason === undefined)
    return 'the reason is none of hard_bounce, complaint, unsubscribe, manual';
  const expires = record.expires_at ? new Date(record.expires_at) : undefined;
  if (expires !== undefined && Number.isNaN(expires.getTime())) return 'expires_at is no time';
  return {
    address: normaliseAddress(parsed.address),
    reason,
    messageId: parseMessageId(record.message_id ?? ''),
    expiresAt: expires,
  };
}

/** An account's whole list as CSV, page by page, so that a long one is never in memory as a whole. */
export async function* exportSuppressions(
  database: Pick<Database, 'kysely'>,
  accountId: AccountId,
): AsyncGenerator<string> {
  yield csvLine(columns);
  let after: Suppression | undefined;
  for (;;) {
    const page = await listSuppressions(database.kysely, accountId, { after, limit: 2_000 });
    if (page.length === 0) return;
    yield page.map(lineOf).join('');
    after = page.at(-1);
  }
}

function lineOf(entry: Suppression): string {
  const { address, reason, messageId, createdAt, expiresAt } = entry;
  return csvLine([
    address,
    reason,
    messageId ?? '',
    createdAt.toISOString(),
    expiresAt?.toISOString() ?? '',
  ]);
}
