import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Static } from 'typebox';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { Problem } from '../answer/problem.ts';
import { atMost } from '../at-most.ts';
import { inTransaction, record, type Transaction } from '../change-resource.ts';
import type { Call, Wire } from '../endpoint.ts';
import { type ImportCounts, importCsv, type RowReader, UnusableFile } from './import-csv.ts';
import { beginImport, type ImportName, readImport, saveProgress } from './import-progress-store.ts';
import { type ImportView, requireImport, viewProgress } from './import-view.ts';

/** Bytes of a file. */
const largestFile = 1024 ** 3;

/** How a file is imported. */
export interface ImportJob<Item extends object> {
  readonly name: ImportName;
  /** The kind of the audit event and what it is about. */
  readonly event: { readonly kind: string; readonly id: string };
  open(columns: readonly string[]): RowReader<Item>;
  write(kysely: Transaction, items: readonly Item[]): Promise<void>;
}

/**
 * Takes a CSV file in and answers once it is here; then its rows are imported while the import's own address tells how far
 * it is. The same id again imports nothing, and is refused where the request's preconditions say so.
 * @throws Problem where too many are under way, or the file is too large or no CSV by its type
 */
export async function receiveImport<Item extends object>(
  call: Call,
  job: ImportJob<Item>,
): Promise<Wire<Static<typeof ImportView>>> {
  const { body } = call as { body: unknown };
  if (!(body instanceof Readable))
    throw new Problem('unsupported-media-type', 'Send the file as text/csv');
  if (await isKnown(call, job, call.parts.database.kysely)) {
    body.resume();
    return requireImport(call, job.name);
  }
  const { imports } = call.parts;
  const { accountId } = job.name;
  if (!imports.takePlace(accountId))
    throw new Problem(
      'too-many-requests',
      'Your account is importing as many files as it may; try again when one is done',
      { retryAfter: 10 },
    );
  let running = false;
  try {
    const file = await keepFile(body);
    running = await begin(call, job, file).catch(async (error: unknown) => {
      await file.drop();
      throw error;
    });
    if (running) imports.hold(accountId, runImport(call, job, file));
    else await file.drop();
  } finally {
    if (!running) imports.freePlace(accountId);
  }
  return requireImport(call, job.name);
}

/** @throws Problem where it is not as the preconditions of the request want it */
async function isKnown(
  call: Call,
  { name }: Pick<ImportJob<object>, 'name'>,
  kysely: Transaction,
): Promise<boolean> {
  const known = await readImport(kysely, name);
  requirePreconditions(call.request, known && viewProgress(known));
  return known !== undefined;
}

interface KeptFile {
  readonly handle: FileHandle;
  drop(): Promise<void>;
}

/**
 * The network's pace is not that of the database: the file waits on disk, not in memory. Its name is taken away at once, so
 * that nothing of it is left however this process ends.
 */
async function keepFile(body: Readable): Promise<KeptFile> {
  const folder = await mkdtemp(join(tmpdir(), 'signalpost-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const handle = await open(join(folder, 'rows.csv'), 'wx+', 0o600).catch(async (error) => {
    await remove();
    throw error;
  });
  const drop = async () => {
    await handle.close();
    await remove();
  };
  try {
    // Where an open file cannot be removed, it is when it was read.
    await remove().catch(() => undefined);
    await pipeline(body, atMost(largestFile), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await handle.appendFile(chunk);
    });
    return { handle, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

/** @returns false where another request with this id was faster */
async function begin<Item extends object>(
  call: Call,
  job: ImportJob<Item>,
  { handle }: KeptFile,
): Promise<boolean> {
  const { name, event } = job;
  const { size } = await handle.stat();
  return inTransaction(call, async (transaction) => {
    if (await isKnown(call, job, transaction)) return false;
    const fresh = await beginImport(transaction, name, size);
    if (fresh) await record(call, transaction, event.kind, event.id, { size });
    return fresh;
  });
}

const cutOff = 'The service was stopped before the end of the file; send it again with another id';

/** Never rejects: what became of it is in the database, or is seen there for want of news. */
async function runImport<Item extends object>(
  call: Call,
  job: ImportJob<Item>,
  file: KeptFile,
): Promise<void> {
  const { kysely } = call.parts.database;
  const { stopping } = call.parts.imports;
  const counts: ImportCounts = {
    bytesRead: 0,
    rowsRead: 0,
    rowsWritten: 0,
    rowsWrong: 0,
    problems: [],
  };
  const save = (state: 'running' | 'done' | 'failed') =>
    saveProgress(kysely, job.name, { ...counts, state });
  const rows = addAbortSignal(stopping, file.handle.createReadStream({ start: 0 }));
  try {
    await importCsv(rows, counts, job.open, async (items) => {
      await job.write(kysely, items);
      await save('running');
    });
    await save('done');
  } catch (error) {
    if (error instanceof UnusableFile) counts.problems.unshift({ line: 0, reason: error.message });
    else if (stopping.aborted) counts.problems.unshift({ line: 0, reason: cutOff });
    else call.request.log.error({ err: error }, 'the import of a file failed');
    await save('failed').catch(() => undefined);
  } finally {
    rows.destroy();
    await file.drop().catch(() => undefined);
  }
}
