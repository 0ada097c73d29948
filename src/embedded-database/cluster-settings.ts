import { chownSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseEndpoint } from './choose-endpoint.ts';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUser } from './database-user.ts';

/** Included by `postgresql.conf`, in the same folder. */
export const SETTINGS_FILE = 'postgresql.signalpost.conf';

/** Writes PostgreSQL's settings for the coming run. */
export function writeClusterSettings(
  folder: DataFolder,
  endpoint: DatabaseEndpoint,
  user: DatabaseUser | undefined,
  durable: boolean,
): void {
  const path = join(folder.cluster, SETTINGS_FILE);
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  // wx: never through a link that PostgreSQL's user, who owns the folder, may have put there.
  writeFileSync(unfinished, settingsText(endpoint, durable), { mode: 0o600, flag: 'wx' });
  if (user) chownSync(unfinished, user.uid, user.gid);
  renameSync(unfinished, path);
}

function settingsText(endpoint: DatabaseEndpoint, durable: boolean): string {
  const settings: [name: string, value: string | number][] = [
    // A Unix socket in a closed folder; TCP on the loopback only where there are none.
    ['listen_addresses', endpoint.socketFolder === undefined ? endpoint.host : ''],
    ['unix_socket_directories', quotedFolder(endpoint.socketFolder)],
    ['unix_socket_permissions', '0700'],
    ['port', endpoint.port],
    ['password_encryption', 'scram-sha-256'],
    ['max_connections', 100],
    ['shared_buffers', '128MB'],
    // A 200 means flushed to the disk.
    ['fsync', durable ? 'on' : 'off'],
    ['full_page_writes', durable ? 'on' : 'off'],
    ['synchronous_commit', 'on'],
    // One node, no replicas: the shortest log that survives a crash.
    ['wal_level', 'minimal'],
    ['max_wal_senders', 0],
    ['max_logical_replication_workers', 0],
    ['max_wal_size', '1GB'],
    // Files of the log are used again. Making one keeps every commit waiting while 16 MB of zeros go to the disk.
    ['min_wal_size', '256MB'],
    // One statement uses one core, so that a report leaves the others to sending, and needs no
    // shared memory, of which containers have little.
    ['max_parallel_workers_per_gather', 0],
    // Statements are short; compiling them costs more than it saves.
    ['jit', 'off'],
    // The queue's tables turn over quickly, so they are looked at more often than once a minute.
    ['autovacuum_naptime', '15s'],
    ['timezone', 'UTC'],
    ['log_timezone', 'UTC'],
    ['logging_collector', 'off'],
    ['log_destination', 'stderr'],
    ['log_checkpoints', 'off'],
    // Values of rows and statements are personal data: the log holds neither.
    ['log_error_verbosity', 'terse'],
    ['log_min_error_statement', 'panic'],
    ['cluster_name', 'signalpost'],
  ];
  const lines = settings.map(([name, value]) => `${name} = ${quoted(String(value))}`);
  return `# Written by Signalpost at each start. Use ALTER SYSTEM to change a setting for good.\n${lines.join('\n')}\n`;
}

/** A string of PostgreSQL's configuration files: quotes and backslashes are doubled. */
function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** One member of a list of folders, whose separators are commas unless in double quotes. */
function quotedFolder(path: string | undefined): string {
  return path === undefined ? '' : `"${path.replaceAll('"', '""')}"`;
}
