import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { shareAt } from '../../../base/fairness/limiter.ts';
import type { RawSockets } from '../tls/raw-sockets.ts';
import { bytesSent } from './limit-responses.ts';
import type { Peers } from './peers.ts';

/** File descriptors reserved for the database, SMTP and imports. */
const reserved = 512;

/** As in the unit of docs/operate/deploy.md. */
export const wantedOpenFiles = 65_536;
/** With fewer, an ordinary number of clients and deliveries comes close to the limit. */
export const minOpenFiles = 1_024;

let knownLimit: { readonly files: number | undefined } | undefined;

/** The limit of open files (`ulimit -n`) of this process; undefined if there is none or it is unknown. */
export function readOpenFileLimit(): number | undefined {
  // Node's only way to the limit is a report on the whole process, which takes milliseconds.
  knownLimit ??= { files: limitInReport() };
  return knownLimit.files;
}

function limitInReport(): number | undefined {
  const report = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const files = Number(report.userLimits?.open_files?.soft);
  return Number.isSafeInteger(files) && files > 0 ? files : undefined;
}

/** Caps the connections of this process to what the open file limit allows. */
export function capToOpenFileLimit(requested: number): number {
  const files = readOpenFileLimit();
  if (files === undefined) return requested;
  return Math.max(1, Math.min(requested, Math.max(files - reserved, Math.floor(files / 2))));
}

export interface ConnectionLimits {
  /** Max open connections per process. */
  readonly total: number;
  /** Max open connections per IP address, as the narrowest network of a client; trusted proxies are exempt. */
  readonly perPeer: number;
}

interface Connection {
  readonly socket: Socket;
  /** Of the client, from narrow to wide; none for a trusted proxy. */
  readonly networks: readonly string[];
  /** The response to the last request; undefined before the first. */
  answer: ServerResponse | undefined;
  /** When the last request began. */
  requestedAt: number;
  /** When the client read some of it for the last time, and how much it had then. */
  readAt: number;
  sent: number;
}

interface Dependencies {
  readonly peers: Peers;
  readonly rawSockets: RawSockets;
}

/** Connections to check when looking for an idle one. */
const maxIdleChecks = 64;
/** A client that reads nothing of a response for this long loses its connection. */
const stalledMs = 60_000;
const sweepMs = 1_000;
/** A request in progress for less than this makes no room for others. */
const minBusyMs = 10_000;

/**
 * Limits the number of connections. At a limit, the oldest idle one (of the peer or of all) makes room for the new one,
 * which is refused if all are busy. If all connections of the process are busy, the oldest request makes room, of the network that
 * has most: else a few addresses could hold all with requests that never end. A connection that hasn't sent a complete request head counts as idle, also during its TLS
 * handshake.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  { peers, rawSockets }: Dependencies,
): void {
  const open = new Map<Socket, Connection>();
  const byNetwork = new Map<string, Map<Socket, Connection>>();
  /** By the socket that requests name. */
  const byCarrier = new WeakMap<Socket, Connection>();
  const remove = ({ socket, networks }: Connection): void => {
    open.delete(socket);
    for (const network of networks) {
      const own = byNetwork.get(network);
      own?.delete(socket);
      if (own?.size === 0) byNetwork.delete(network);
    }
  };
  const evict = (connections: Map<Socket, Connection>): boolean => {
    const idle = findIdle(connections);
    if (idle === undefined) return false;
    remove(idle);
    idle.socket.destroy();
    return true;
  };
  const evictBusy = (networks: readonly string[]): boolean => {
    const busy = findBusy(byNetwork, byNetwork.get(networks.at(-1) ?? '')?.size ?? 0);
    if (busy === undefined) return false;
    remove(busy);
    busy.socket.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    const networks = peers.isProxy(socket.remoteAddress ?? '') ? [] : peers.ofSocket(socket);
    const hasRoom = (network: string, level: number): boolean => {
      const own = byNetwork.get(network);
      const max = shareAt(limits.perPeer, level, networks.length);
      return own === undefined || own.size < max || evict(own);
    };
    const makeRoom = (): boolean => open.size < limits.total || evict(open) || evictBusy(networks);
    if (!networks.every(hasRoom) || !makeRoom()) {
      socket.destroy();
      return;
    }
    const now = performance.now();
    const connection = {
      socket,
      networks,
      answer: undefined,
      requestedAt: now,
      readAt: now,
      sent: 0,
    };
    open.set(socket, connection);
    byCarrier.set(socket, connection);
    for (const network of networks) {
      const own = byNetwork.get(network) ?? new Map<Socket, Connection>();
      byNetwork.set(network, own.set(socket, connection));
    }
    socket.once('close', () => remove(connection));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const raw = rawSockets.below(socket);
    const connection = raw && byCarrier.get(raw);
    if (connection !== undefined) byCarrier.set(socket, connection);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = byCarrier.get(request.socket);
    if (connection === undefined) return;
    connection.answer = response;
    connection.requestedAt = performance.now();
  });
  const sweep = setInterval(() => {
    for (const connection of open.values()) if (isStalled(connection)) connection.socket.destroy();
  }, sweepMs).unref();
  server.on('close', () => clearInterval(sweep));
}

/** True if the client hasn't read any of a response in progress for too long. */
function isStalled(connection: Connection): boolean {
  const { socket } = connection.answer?.req ?? {};
  const now = performance.now();
  if (socket === undefined || isIdle(connection) || socket.writableLength === 0) {
    connection.readAt = now;
    return false;
  }
  const sent = bytesSent(socket);
  if (sent !== connection.sent) {
    connection.sent = sent;
    connection.readAt = now;
  }
  return now - connection.readAt > stalledMs;
}

function isIdle({ answer }: Connection): boolean {
  return answer === undefined || answer.writableFinished || answer.destroyed;
}

/** The oldest idle connection. Busy ones move to the end, so that the next search starts after them. */
function findIdle(connections: Map<Socket, Connection>): Connection | undefined {
  let checked = 0;
  for (const [socket, connection] of connections) {
    if (isIdle(connection)) return connection;
    checked += 1;
    if (checked >= Math.min(maxIdleChecks, connections.size)) return undefined;
    connections.delete(socket);
    connections.set(socket, connection);
  }
  return undefined;
}

/**
 * The connection with the oldest request, of the widest network that has most.
 * @param own connections of the network that needs one; undefined if no other has clearly more, or all requests are new
 */
function findBusy(
  byNetwork: ReadonlyMap<string, ReadonlyMap<Socket, Connection>>,
  own: number,
): Connection | undefined {
  let most: ReadonlyMap<Socket, Connection> | undefined;
  for (const [network, connections] of byNetwork) {
    const [first] = connections.values();
    if (first?.networks.at(-1) !== network || connections.size <= (most?.size ?? own + 1)) continue;
    most = connections;
  }
  let oldest: Connection | undefined;
  for (const connection of most?.values() ?? [])
    if (connection.requestedAt < (oldest?.requestedAt ?? performance.now() - minBusyMs))
      oldest = connection;
  return oldest;
}
