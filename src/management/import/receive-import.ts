import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Static } from 'typebox';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { Wire } from '../../foundation/wire.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { Problem } from '../answer/problem.ts';
import { limitBytes } from '../limit-bytes.ts';
import type { OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';
import { type ImportCounts, InvalidImportFile, importCsv, type RowReader } from './import-csv.ts';
import { createImport, type ImportKey, readImport, saveProgress } from './import-progress-store.ts';
import { type ImportView, requireImport, viewProgress } from './import-view.ts';

/** Max size of a file. */
const maxFileBytes = 1024 ** 3;

/** How a file is imported. */
interface ImportJob<Item extends object> {
  readonly name: ImportKey;
  /** Kind and subject of the audit event. */
  readonly event: { readonly kind: string; readonly id: string };
  open(columns: readonly string[]): RowReader<Item>;
  write(kysely: DatabaseTransaction, items: readonly Item[]): Promise<void>;
}

/**
 * Receives a CSV file, then imports its rows in the background; the import's URL shows the progress. Repeating an ID
 * imports nothing but still checks the request's preconditions.
 * @throws Problem if too many imports are running, or the file is too large or not text/csv
 */
export async function receiveImport<Item extends object>(
  call: OperationCall,
  job: ImportJob<Item>,
): Promise<Wire<Static<typeof ImportView>>> {
  const { body } = call as { body: unknown };
  if (!(body instanceof Readable))
    throw new Problem('unsupported-media-type', 'Send the file as text/csv');
  if (await importExists(call, job, call.dependencies.database.kysely)) {
    body.resume();
    return requireImport(call, job.name);
  }
  const { imports } = call.dependencies;
  const { accountId } = job.name;
  if (!imports.acquireSlot(accountId))
    throw new Problem(
      'too-many-requests',
      'Your account has too many imports running. Retry when one completes',
      { retryAfter: 10 },
    );
  let running = false;
  try {
    const file = await storeTemporaryFile(body);
    running = await registerImport(call, job, file).catch(async (error: unknown) => {
      await file.discard();
      throw error;
    });
    if (running) imports.track(accountId, runImport(call, job, file));
    else await file.discard();
  } finally {
    if (!running) imports.releaseSlot(accountId);
  }
  return requireImport(call, job.name);
}

/** @throws Problem if a precondition of the request fails */
async function importExists(
  call: OperationCall,
  { name }: Pick<ImportJob<object>, 'name'>,
  kysely: DatabaseTransaction,
): Promise<boolean> {
  const existing = await readImport(kysely, name);
  requirePreconditions(call.request, existing && viewProgress(existing));
  return existing !== undefined;
}

interface TemporaryFile {
  readonly handle: FileHandle;
  discard(): Promise<void>;
}

/**
 * Buffers the upload on disk, because the network can be faster than the database. The file is unlinked at once, so nothing
 * is left behind if the process dies.
 */
async function storeTemporaryFile(body: Readable): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), 'signalpost-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const handle = await open(join(folder, 'rows.csv'), 'wx+', 0o600).catch(async (error) => {
    await remove();
    throw error;
  });
  const discard = async () => {
    await handle.close();
    await remove();
  };
  try {
    // If the platform can't unlink an open file, discard() does it later.
    await remove().catch(() => undefined);
    await pipeline(body, limitBytes(maxFileBytes), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await handle.appendFile(chunk);
    });
    return { handle, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** @returns false if a concurrent request registered this id first */
async function registerImport<Item extends object>(
  call: OperationCall,
  job: ImportJob<Item>,
  { handle }: TemporaryFile,
): Promise<boolean> {
  const { name, event } = job;
  const { size } = await handle.stat();
  return inTransaction(call, async (transaction) => {
    if (await importExists(call, job, transaction)) return false;
    const created = await createImport(transaction, name, size);
    if (created) await recordAudit(call, transaction, event.kind, event.id, { size });
    return created;
  });
}

const interruptedReason =
  'The service stopped before the import finished. Upload the file again with a new ID';

/** Never rejects: the outcome is stored, and an import that stops making progress counts as failed. */
async function runImport<Item extends object>(
  call: OperationCall,
  job: ImportJob<Item>,
  file: TemporaryFile,
): Promise<void> {
  const { kysely } = call.dependencies.database;
  const { stopping } = call.dependencies.imports;
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
    if (error instanceof InvalidImportFile)
      counts.problems.unshift({ line: 0, reason: error.message });
    else if (stopping.aborted) counts.problems.unshift({ line: 0, reason: interruptedReason });
    else call.request.log.error({ err: error }, 'file import failed');
    await save('failed').catch(() => undefined);
  } finally {
    rows.destroy();
    await file.discard().catch(() => undefined);
  }
}
