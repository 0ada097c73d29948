import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type ImportHost, ImportProblem } from './host.ts';
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
 * @throws ImportProblem for a file that can't be read, and if the service refuses
 */
export async function sendSuppressions(
  product: Product,
  paths: readonly string[],
  reason: string | undefined,
  host: ImportHost,
): Promise<number> {
  const found = new Map<string, string>();
  const left: string[] = [];
  for (const path of paths) {
    const rows = readRows(path, await readBytes(path), host);
    for (const [index, row] of rows.entries()) {
      const entry = readRow(product, row, reason, host);
      if (typeof entry === 'string') left.push(`${path}, row ${index + 1}: ${entry}`);
      else if (entry !== undefined) keepStrongest(found, entry.address, entry.reason);
    }
  }
  for (const line of left.slice(0, maxShownProblems)) host.warn(line);
  if (left.length > maxShownProblems) host.warn(`and ${left.length - maxShownProblems} more rows`);
  if (found.size === 0) throw new ImportProblem('The files have no suppressed addresses');
  const wrong = await upload(host, found);
  return left.length + wrong > 0 ? 1 : 0;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    const bytes = await readFile(path);
    if (bytes.length <= maxFileBytes) return bytes;
  } catch (cause) {
    throw new ImportProblem(`${path} can’t be read`, { cause });
  }
  throw new ImportProblem(`${path} is larger than 400 MiB; split it`);
}

/** Rows of a CSV file with a header, of a JSON array, or of a JSON page with one. */
function readRows(path: string, file: Buffer, host: ImportHost): readonly Row[] {
  const text = file.toString('utf8').replace(/^\uFEFF/, '');
  if (!/^\s*[[{]/.test(text)) {
    try {
      return host.readCsv(file);
    } catch (cause) {
      throw new ImportProblem(`${path} is neither JSON nor CSV with a header`, { cause });
    }
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ImportProblem(`${path} is not JSON`, { cause });
  }
  const rows = Array.isArray(json) ? json : Object.values(json as object).find(Array.isArray);
  if (rows === undefined) throw new ImportProblem(`${path} has no list of addresses`);
  return rows;
}

/** What Postmark calls its reasons. */
const postmarkReasons: Readonly<Record<string, string>> = {
  HardBounce: 'hard_bounce',
  SpamComplaint: 'complaint',
  ManualSuppression: 'manual',
};

/** @returns a string: the problem; undefined: the row suppresses nothing */
function readRow(
  product: Product,
  row: Row,
  given: string | undefined,
  host: ImportHost,
): { readonly address: string; readonly reason: string } | string | undefined {
  if (typeof row !== 'object' || row === null) return 'is not an object';
  const address = row[host.findAddressColumn(Object.keys(row)) ?? ''];
  if (typeof address !== 'string' || !/^[^\s,"]+@[^\s,"]+$/.test(address.trim()))
    return 'has no email address';
  if (product === 'resend' && !isTrue(row.unsubscribed)) return undefined;
  const reason = reasonOf(product, row) ?? given;
  if (reason === undefined) return 'doesn’t say why; give the reason of the file with --reason';
  return { address: address.trim().toLowerCase(), reason };
}

function reasonOf(product: Product, row: Row): string | undefined {
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
function keepStrongest(found: Map<string, string>, address: string, reason: string): void {
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
async function upload(host: ImportHost, found: ReadonlyMap<string, string>): Promise<number> {
  const rows = [...found].map(([address, reason]) => `${address},${reason}\n`);
  const csv = `address,reason\n${rows.join('')}`;
  const path = `/suppressions-imports/${randomUUID()}`;
  const connection = host.connect();
  await connection.call('PUT', path, { csv });
  for (;;) {
    const { state, rowsWritten, rowsWrong, problems } = (await connection.call('GET', path))
      .body as ImportProgress;
    if (state === 'running') {
      await delay(pollMs);
      continue;
    }
    for (const { line, reason } of problems)
      host.warn(`${rows[line - 2]?.split(',')[0] ?? `line ${line}`}: ${reason}`);
    if (state !== 'done')
      throw new ImportProblem('The service could not finish the import; repeat it');
    host.print(`${rowsWritten} addresses suppressed, ${rowsWrong} skipped`, {
      suppressed: rowsWritten,
      leftOut: rowsWrong,
    });
    return rowsWrong;
  }
}
