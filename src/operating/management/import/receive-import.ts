import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AccountLimitReached } from '../../../accounts/account/account-limit-store.ts';
import { lockActiveAccount } from '../../../accounts/account/account-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { type CsvForm, CsvFormDetector } from '../../../base/values/csv-file.ts';
import { logFailure } from '../../../host/http/request-log.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { conflict, Problem } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';
import { InvalidImportFile, importCsv, type RowReader } from './import-csv.ts';
import {
  continueImport,
  createImport,
  endImport,
  type FileFacts,
  type ImportKey,
  type ImportProgress,
  type ImportRun,
  readImport,
  saveStep,
} from './import-store.ts';

/** Max size of a file. */
const maxFileBytes = 1024 ** 3;

type ImportCall = OperationCall<{ readonly name?: string }>;

/** How a file is imported. */
export interface ImportJob<Item extends object> {
  /** Kind of the audit event. */
  readonly event: string;
  /** @throws InvalidImportFile */
  open(columns: readonly string[]): RowReader<Item>;
  write(
    transaction: DatabaseTransaction,
    items: readonly Item[],
    call: OperationCall,
  ): Promise<unknown>;
}

/**
 * Receives a CSV file, then imports its rows in the background; the import's URL shows the progress. Repeating an ID continues an
 * import that stopped; otherwise it imports nothing but still checks the request's preconditions.
 * @throws Problem if too many imports are running, or the file is too large, not text/csv or not the one that stopped
 */
export async function receiveImport<Item extends object>(
  call: ImportCall,
  key: ImportKey,
  job: ImportJob<Item>,
  view: (progress: ImportProgress) => object,
): Promise<void> {
  const { body } = call as { body: unknown };
  if (!(body instanceof Readable))
    throw new Problem('unsupported-media-type', 'Send the file as text/csv');
  const find = async (kysely: DatabaseTransaction) => {
    const existing = await readImport(kysely, key);
    requirePreconditions(call.request, existing && view(existing));
    return existing;
  };
  const existing = await find(call.kysely);
  if (existing !== undefined && existing.state !== 'stopped') {
    body.resume();
    return;
  }
  const { imports } = call.dependencies;
  const slot = imports.acquire(key.accountId);
  if (slot === undefined)
    throw new Problem(
      'too-many-requests',
      'Your account has too many imports running. Retry when one completes',
      { retryAfter: 10 },
    );
  let running = false;
  try {
    const file = await storeTemporaryFile(body);
    const register = (transaction: DatabaseTransaction) =>
      registerImport(call, transaction, { key, file, event: job.event, find });
    const run = await inTransaction(call, register).catch(async (error: unknown) => {
      await file.discard();
      throw error;
    });
    running = run !== undefined;
    if (run === undefined) await file.discard();
    else imports.track(slot, runImport(call, job, run, file));
  } finally {
    if (!running) slot.release();
  }
}

interface TemporaryFile extends FileFacts {
  readonly handle: FileHandle;
  readonly form: CsvForm;
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
    const hash = createHash('sha256');
    const detector = new CsvFormDetector();
    await pipeline(body, limitBytes(maxFileBytes), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        detector.add(chunk);
        await handle.appendFile(chunk);
      }
    });
    const { size } = await handle.stat();
    return { handle, size, sha256: hash.digest(), form: detector.form(), discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

const otherFile =
  'This isn’t the file that the import started with. Choose the same file to continue, or start a new import';

interface Registration {
  readonly key: ImportKey;
  readonly file: FileFacts;
  readonly event: string;
  /** Reads the import. @throws Problem if a precondition of the request fails */
  find(transaction: DatabaseTransaction): Promise<ImportProgress | undefined>;
}

/**
 * Registers a new import, or takes over a stopped one.
 * @returns undefined if a concurrent request did so first
 * @throws Problem if the file isn't the one of the stopped import
 */
async function registerImport(
  call: ImportCall,
  transaction: DatabaseTransaction,
  { key, file, event, find }: Registration,
): Promise<ImportRun | undefined> {
  const existing = await find(transaction);
  if (existing !== undefined && existing.state !== 'stopped') return undefined;
  const run =
    existing === undefined
      ? await createImport(transaction, key, file, call.query.name)
      : await continueImport(transaction, key, file);
  if (run === undefined && existing !== undefined) throw conflict(otherFile);
  if (run !== undefined)
    await recordAudit(call, transaction, event, key.listId ?? 'suppressions', { size: file.size });
  return run;
}

/** Another process continues the import, so this one's rows don't count. */
class TakenOver extends Error {}

/** The account was suspended while the import ran. */
class Suspended extends Error {}

/** Never rejects: the outcome is stored, and an import that stops making progress counts as stopped. */
async function runImport<Item extends object>(
  call: ImportCall,
  job: ImportJob<Item>,
  run: ImportRun,
  file: TemporaryFile,
): Promise<void> {
  const { kysely } = call;
  const { stopping } = call.dependencies.imports;
  const end = (state: 'done' | 'failed' | 'stopped', reason?: string, line = 0) =>
    endImport(kysely, run, state, reason === undefined ? undefined : { line, reason });
  let rowsRead = 0;
  let rows: Readable | undefined;
  try {
    const start = await readImport(kysely, run);
    if (start === undefined) throw new TakenOver();
    rowsRead = start.rowsRead;
    rows = addAbortSignal(stopping, file.handle.createReadStream({ start: 0, autoClose: false }));
    await importCsv(rows, file.form, start, job.open, async ({ items, ...step }) => {
      // One commit, so that continuing repeats nothing and skips nothing.
      await kysely.transaction().execute(async (transaction) => {
        if (!(await lockActiveAccount(transaction, run.accountId))) throw new Suspended();
        if (items.length > 0) await job.write(transaction, items, call);
        if (!(await saveStep(transaction, run, step))) throw new TakenOver();
      });
      rowsRead = step.counts.rowsRead;
    });
    await end('done');
  } catch (error) {
    if (error instanceof TakenOver) return;
    if (error instanceof InvalidImportFile)
      await end('failed', error.message, error.line).catch(() => undefined);
    else {
      const why = stopping.aborted ? 'The service restarted' : expectedReason(error);
      if (why === undefined) logFailure(call.request, error, 'file import failed');
      const rest = `${rowsRead} rows are imported. To continue, import the same file again`;
      await end('stopped', `${why ?? 'An internal error occurred'}. ${rest}`).catch(
        () => undefined,
      );
    }
  } finally {
    rows?.destroy();
    await file.discard().catch(() => undefined);
  }
}

/** Why an import stopped, if neither the file nor the service is at fault. */
function expectedReason(error: unknown): string | undefined {
  if (error instanceof AccountLimitReached) return error.message;
  return error instanceof Suspended ? 'The account was suspended' : undefined;
}

/** Fails with a Problem if the stream is larger than the limit. */
function limitBytes(maxBytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes)
        done(new Problem('too-large', `The file is larger than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}
