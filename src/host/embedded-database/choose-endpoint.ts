import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DataFolder } from './data-folder.ts';
import { type DatabaseUser, findUntraversableFolder } from './database-user.ts';

/** Where PostgreSQL listens and clients connect. */
export type DatabaseEndpoint = {
  readonly host: string;
  readonly port: number;
  /** The folder of the Unix socket; undefined if PostgreSQL listens on TCP. */
  readonly socketFolder: string | undefined;
};

/** Only part of the socket's file name, so another PostgreSQL on this port doesn't conflict. */
const SOCKET_PORT = 5432;

const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`;

/** Maximum path length of a Unix socket in bytes (`sun_path` minus its terminating zero). */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

const TEMPORARY_PREFIX = 'signalpost-';

/**
 * Chooses where the database listens: a Unix socket in a folder that only its own user (and root) can enter, or a
 * free loopback port on Windows.
 */
export async function chooseEndpoint(
  folder: DataFolder,
  user: DatabaseUser | undefined,
): Promise<DatabaseEndpoint> {
  if (process.platform === 'win32') {
    return { host: '127.0.0.1', port: await freePort(), socketFolder: undefined };
  }
  const socketFolder = fits(folder.run) ? folder.run : makeTemporarySocketFolder(user);
  mkdirSync(socketFolder, { recursive: true });
  chmodSync(socketFolder, 0o700);
  if (user) chownSync(socketFolder, user.uid, user.gid);
  return { host: socketFolder, port: SOCKET_PORT, socketFolder };
}

/** Removes the socket and lock file that a killed PostgreSQL leaves behind. */
export function clearSocket(endpoint: DatabaseEndpoint): void {
  if (endpoint.socketFolder === undefined) return;
  for (const name of readdirSync(endpoint.socketFolder)) {
    if (name.startsWith(SOCKET_NAME)) rmSync(join(endpoint.socketFolder, name), { force: true });
  }
}

/** Removes the socket's folder if it is outside the data folder. */
export function removeTemporarySocketFolder(endpoint: DatabaseEndpoint): void {
  const path = endpoint.socketFolder;
  if (path && basename(path).startsWith(TEMPORARY_PREFIX)) {
    rmSync(path, { recursive: true, force: true });
  }
}

function fits(socketFolder: string): boolean {
  return Buffer.byteLength(join(socketFolder, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
}

function makeTemporarySocketFolder(user: DatabaseUser | undefined): string {
  const usable = (path: string) =>
    fits(join(path, `${TEMPORARY_PREFIX}123456`)) && !(user && findUntraversableFolder(path, user));
  return mkdtempSync(join(usable(tmpdir()) ? tmpdir() : '/tmp', TEMPORARY_PREFIX));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
