import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import { codeOf } from '../../base/database/sqlstate.ts';

const readBytes = 256 * 1024;

/** Folders whose content PostgreSQL rebuilds at each start (as in `pg_basebackup`), and the WAL, which is added later. */
const emptied = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);

const controlFile = 'global/pg_control';

/** Files of the running server and its caches, and files that are rewritten at startup. */
const skippedFile =
  /(?:^|\/)(?:postmaster\.(?:pid|opts)|pg_internal\.init(?:\.\d+)?|pgsql_tmp.*|current_logfiles|backup_label(?:\.old)?|tablespace_map(?:\.old)?|backup_manifest|(?:recovery|standby)\.signal|postgresql\.signalpost\.conf.*)$/;

/**
 * Adds a running cluster's folder to an archive. Files may change or disappear meanwhile; WAL replay repairs that, as long as
 * PostgreSQL is in backup mode.
 */
export async function packCluster(pack: Pack, cluster: string): Promise<void> {
  await packFolder(pack, cluster, '');
  // Last, so that it isn't older than the files it describes.
  await packBytes(pack, `database/${controlFile}`, await readSteadily(join(cluster, controlFile)));
}

async function packFolder(pack: Pack, cluster: string, folder: string): Promise<void> {
  const entries = await ignoreMissing(readdir(join(cluster, folder), { withFileTypes: true }));
  for (const entry of entries ?? []) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (skippedFile.test(name) || name === controlFile) continue;
    if (emptied.has(name)) await packEmptyFolder(pack, `database/${name}`);
    else if (entry.isDirectory()) {
      await packEmptyFolder(pack, `database/${name}`);
      await packFolder(pack, cluster, name);
    } else if (entry.isFile()) await packFile(pack, `database/${name}`, join(cluster, name));
  }
}

/** Adds a file with its current size; skips it if it no longer exists. */
export async function packFile(pack: Pack, name: string, path: string): Promise<void> {
  const file = await ignoreMissing(open(path, 'r'));
  if (file === undefined) return;
  try {
    const { size } = await file.stat();
    if (size === 0) return await packBytes(pack, name, Buffer.alloc(0));
    const entry = pack.entry({ name, size, mode: 0o600 });
    await pipeline(Readable.from(readExactly(file, size), { objectMode: false }), entry);
  } finally {
    await file.close();
  }
}

/** Adds a small file. */
export async function packBytes(pack: Pack, name: string, content: Buffer): Promise<void> {
  await new Promise<void>((done, fail) => {
    pack.entry({ name, mode: 0o600 }, content, (error) => (error ? fail(error) : done()));
  });
}

async function packEmptyFolder(pack: Pack, name: string): Promise<void> {
  await new Promise<void>((done, fail) => {
    pack.entry({ name, mode: 0o700, type: 'directory' }, (error) => (error ? fail(error) : done()));
  });
}

/** The first `size` bytes of a file, padded with zeros if it has become shorter. */
async function* readExactly(
  file: Awaited<ReturnType<typeof open>>,
  size: number,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(readBytes, size - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    // The rest was truncated; zeros stay.
    at += bytesRead === 0 ? chunk.length : bytesRead;
    yield bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead);
  }
}

/** Reads a small file that is overwritten in place, until two reads agree. */
async function readSteadily(path: string): Promise<Buffer> {
  let content = await readFile(path);
  for (;;) {
    const again = await readFile(path);
    if (again.equals(content)) return content;
    content = again;
  }
}

async function ignoreMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
