import { chownSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMemoryLimit } from '../../base/fairness/memory-share.ts';
import type { DatabaseEndpoint } from './choose-endpoint.ts';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUser } from './database-user.ts';

/** Included by `postgresql.conf`, in the same folder. */
export const SETTINGS_FILE = 'postgresql.signalpost.conf';

/** Below this, in bytes, PostgreSQL's own cache is small; the system's cache has the same pages. */
const scarceMemory = 1_024 ** 3;

/** A setting of PostgreSQL. */
export type ClusterSetting = readonly [name: string, value: string | number];

/** Writes PostgreSQL's settings for the next run. @param more settings in addition to the service's own */
export function writeClusterSettings(
  folder: DataFolder,
  endpoint: DatabaseEndpoint,
  user: DatabaseUser | undefined,
  durable: boolean,
  more: readonly ClusterSetting[] = [],
): void {
  const path = join(folder.cluster, SETTINGS_FILE);
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  // wx: never follow a link that PostgreSQL's user, who owns the folder, may have put there.
  writeFileSync(unfinished, settingsText(endpoint, durable, more), { mode: 0o600, flag: 'wx' });
  if (user) chownSync(unfinished, user.uid, user.gid);
  renameSync(unfinished, path);
}

function settingsText(
  endpoint: DatabaseEndpoint,
  durable: boolean,
  more: readonly ClusterSetting[],
): string {
  const settings: ClusterSetting[] = [
    // A Unix socket in a private folder; TCP on loopback only if sockets aren't supported.
    ['listen_addresses', endpoint.socketFolder === undefined ? endpoint.host : ''],
    ['unix_socket_directories', quotedFolder(endpoint.socketFolder)],
    ['unix_socket_permissions', '0700'],
    ['port', endpoint.port],
    ['password_encryption', 'scram-sha-256'],
    ['max_connections', 100],
    ['shared_buffers', readMemoryLimit() < scarceMemory ? '32MB' : '128MB'],
    // A 200 means flushed to disk.
    ['fsync', durable ? 'on' : 'off'],
    ['full_page_writes', durable ? 'on' : 'off'],
    ['synchronous_commit', 'on'],
    // Enough for a backup while the service runs. There are no replicas.
    ['wal_level', 'replica'],
    ['max_wal_senders', 0],
    ['max_logical_replication_workers', 0],
    ['max_wal_size', '1GB'],
    // Recycle WAL files, and create one without writing 16 MB of zeros, for which every commit would wait.
    ['min_wal_size', '256MB'],
    ['wal_init_zero', 'off'],
    // One core per statement, so that reports leave the other cores to sending. Also avoids shared memory, which is
    // scarce in containers.
    ['max_parallel_workers_per_gather', 0],
    // Statements are short, so compiling them costs more than it saves.
    ['jit', 'off'],
    // The queue's tables change quickly and need vacuuming more than once a minute.
    ['autovacuum_naptime', '15s'],
    ['timezone', 'UTC'],
    ['log_timezone', 'UTC'],
    ['logging_collector', 'off'],
    ['log_destination', 'stderr'],
    ['log_checkpoints', 'off'],
    // Row values and statements are personal data, so the log must not contain them.
    ['log_error_verbosity', 'terse'],
    ['log_min_error_statement', 'panic'],
    ['cluster_name', 'signalpost'],
    ...more,
  ];
  const lines = settings.map(([name, value]) => `${name} = ${quoted(String(value))}`);
  return `# Written by Signalpost at each start. Use ALTER SYSTEM to change a setting permanently.\n${lines.join('\n')}\n`;
}

/** A string for PostgreSQL's configuration files, with quotes and backslashes doubled. */
function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** An entry in a comma-separated list of folders, double-quoted. */
function quotedFolder(path: string | undefined): string {
  return path === undefined ? '' : `"${path.replaceAll('"', '""')}"`;
}
