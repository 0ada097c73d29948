import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import type { SuppressionReason } from '../../feedback/suppression/suppression.ts';
import {
  type ManagementConnection,
  TypesFailure,
} from '../../template-types/management-connection.ts';
import { type CommandShell, type JsonOption, printResult } from '../shell.ts';
import type { Product } from './product-templates.ts';

type Row = Readonly<Record<string, unknown>>;

const maxFileBytes = 400 * 1024 * 1024;
const pollMs = 250;
const maxShownProblems = 20;

/**
 * Sends the suppressed addresses of another product's files to the service, which imports them in the background. The same
 * addresses again import nothing.
 * @param reason for rows whose file doesn't say it
 * @returns the exit code: 1 if rows were skipped
 * @throws TypesFailure for a file that can't be read, and if the service refuses
 */
export async function sendSuppressions(
  product: Product,
  paths: readonly string[],
  reason: SuppressionReason | undefined,
  connect: () => ManagementConnection,
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  const found = new Map<string, SuppressionReason>();
  const left: string[] = [];
  for (const path of paths) {
    const rows = readRows(path, await readText(path));
    for (const [index, row] of rows.entries()) {
      const entry = readRow(product, row, reason);
      if (typeof entry === 'string') left.push(`${path}, row ${index + 1}: ${entry}`);
      else if (entry !== undefined) keepStrongest(found, entry.address, entry.reason);
    }
  }
  for (const line of left.slice(0, maxShownProblems)) shell.err(`${line}\n`);
  if (left.length > maxShownProblems)
    shell.err(`and ${left.length - maxShownProblems} more rows\n`);
  if (found.size === 0) throw new TypesFailure('The files have no suppressed addresses');
  const wrong = await upload(connect(), found, options, shell);
  return left.length + wrong > 0 ? 1 : 0;
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    if (bytes.length <= maxFileBytes) return bytes.toString('utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new TypesFailure(`${path} can’t be read`, { cause });
  }
  throw new TypesFailure(`${path} is larger than 400 MiB; split it`);
}

/** Rows of a CSV file with a header, of a JSON array, or of a JSON page with one. */
function readRows(path: string, text: string): readonly Row[] {
  if (!/^\s*[[{]/.test(text)) {
    try {
      return parse(text, { columns: true, skip_empty_lines: true, relax_column_count: true });
    } catch (cause) {
      throw new TypesFailure(`${path} is neither JSON nor CSV with a header`, { cause });
    }
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new TypesFailure(`${path} is not JSON`, { cause });
  }
  const rows = Array.isArray(json) ? json : Object.values(json as object).find(Array.isArray);
  if (rows === undefined) throw new TypesFailure(`${path} has no list of addresses`);
  return rows;
}

/** What Postmark calls its reasons. */
const postmarkReasons: Readonly<Record<string, SuppressionReason>> = {
  HardBounce: 'hard_bounce',
  SpamComplaint: 'complaint',
  ManualSuppression: 'manual',
};

/** @returns a string: the problem; undefined: the row suppresses nothing */
function readRow(
  product: Product,
  row: Row,
  given: SuppressionReason | undefined,
): { readonly address: string; readonly reason: SuppressionReason } | string | undefined {
  if (typeof row !== 'object' || row === null) return 'is not an object';
  const address = row.EmailAddress ?? row.email ?? row.address ?? row.Email ?? row.Address;
  if (typeof address !== 'string' || !/^[^\s,"]+@[^\s,"]+$/.test(address.trim()))
    return 'has no email address';
  if (product === 'resend' && !isTrue(row.unsubscribed)) return undefined;
  const reason = reasonOf(product, row) ?? given;
  if (reason === undefined) return 'doesn’t say why; give the reason of the file with --reason';
  return { address: address.trim().toLowerCase(), reason };
}

function reasonOf(product: Product, row: Row): SuppressionReason | undefined {
  if (product === 'postmark') return postmarkReasons[String(row.SuppressionReason)];
  if (product === 'resend') return 'unsubscribe';
  if (product !== 'mailgun') return undefined;
  // Only bounces have an SMTP code, and only unsubscribes have tags.
  if (row.code !== undefined) return 'hard_bounce';
  return row.tags === undefined ? undefined : 'unsubscribe';
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

/** An address can be in several files; `unsubscribe` stops the least. */
function keepStrongest(
  found: Map<string, SuppressionReason>,
  address: string,
  reason: SuppressionReason,
): void {
  const known = found.get(address);
  if (known === undefined || known === 'unsubscribe') found.set(address, reason);
}

interface ImportProgress {
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  readonly rowsWritten: number;
  readonly rowsWrong: number;
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
}

/** @returns how many rows the service skipped */
async function upload(
  connection: ManagementConnection,
  found: ReadonlyMap<string, SuppressionReason>,
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  const rows = [...found].map(([address, reason]) => `${address},${reason}\n`);
  const csv = `address,reason\n${rows.join('')}`;
  const path = `/suppressions-imports/${randomUUID()}`;
  await connection.call('PUT', path, { csv });
  for (;;) {
    const { state, rowsWritten, rowsWrong, problems } = (await connection.call('GET', path))
      .body as ImportProgress;
    if (state === 'running') {
      await delay(pollMs);
      continue;
    }
    for (const { line, reason } of problems)
      shell.err(`${rows[line - 2]?.split(',')[0] ?? `line ${line}`}: ${reason}\n`);
    if (state !== 'done')
      throw new TypesFailure('The service could not finish the import; repeat it');
    printResult(shell, options, `${rowsWritten} addresses suppressed, ${rowsWrong} skipped`, {
      suppressed: rowsWritten,
      leftOut: rowsWrong,
    });
    return rowsWrong;
  }
}
