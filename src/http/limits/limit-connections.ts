import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { RawSockets } from '../tls/raw-sockets.ts';
import type { Peers } from './peers.ts';

export interface ConnectionLimits {
  /** Max open connections per process. */
  readonly total: number;
  /** Max open connections per peer; trusted proxies are exempt. */
  readonly perPeer: number;
}

interface Connection {
  readonly socket: Socket;
  /** Undefined for a trusted proxy. */
  readonly peer: string | undefined;
  /** The response to the last request; undefined before the first. */
  answer: ServerResponse | undefined;
  /** Responses in progress on HTTP/2 streams. */
  streams: number;
}

interface Dependencies {
  readonly peers: Peers;
  readonly rawSockets: RawSockets;
}

/** Connections to check when looking for an idle one. */
const maxIdleChecks = 64;

/**
 * Limits the number of connections. At a limit, the oldest idle one (of the peer or of all) makes room for the new one,
 * which is refused if all are busy. A connection that hasn't sent a complete request head counts as idle, also during its TLS
 * handshake.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  { peers, rawSockets }: Dependencies,
): void {
  const open = new Map<Socket, Connection>();
  const byPeer = new Map<string, Map<Socket, Connection>>();
  /** By the socket or HTTP/2 session that requests name. */
  const byCarrier = new WeakMap<object, Connection>();
  const remove = (connection: Connection): void => {
    const { socket, peer } = connection;
    open.delete(socket);
    if (peer === undefined) return;
    const own = byPeer.get(peer);
    own?.delete(socket);
    if (own?.size === 0) byPeer.delete(peer);
  };
  const evict = (connections: Map<Socket, Connection>): boolean => {
    const idle = findIdle(connections);
    if (idle === undefined) return false;
    remove(idle);
    idle.socket.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    const peer = peers.isProxy(socket.remoteAddress ?? '') ? undefined : peers.ofSocket(socket);
    const own = peer === undefined ? undefined : byPeer.get(peer);
    const fits =
      (own === undefined || own.size < limits.perPeer || evict(own)) &&
      (open.size < limits.total || evict(open));
    if (!fits) {
      socket.destroy();
      return;
    }
    const connection = { socket, peer, answer: undefined, streams: 0 };
    open.set(socket, connection);
    byCarrier.set(socket, connection);
    if (peer !== undefined) {
      // Look it up again: the eviction may have removed the last entry.
      const others = byPeer.get(peer) ?? new Map<Socket, Connection>();
      byPeer.set(peer, others.set(socket, connection));
    }
    socket.once('close', () => remove(connection));
  });
  const secure = (carrier: object, endpoints: Pick<Socket, 'remotePort'>): void => {
    const raw = rawSockets.below(endpoints as Socket);
    const connection = raw && byCarrier.get(raw);
    if (connection !== undefined) byCarrier.set(carrier, connection);
  };
  server.on('secureConnection', (socket: TLSSocket) => secure(socket, socket));
  server.on('session', (session: ServerHttp2Session) => secure(session, session.socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.httpVersionMajor === 1) {
      const connection = byCarrier.get(request.socket);
      if (connection !== undefined) connection.answer = response;
      return;
    }
    const { stream } = response as unknown as Http2ServerResponse;
    const connection = stream.session && byCarrier.get(stream.session);
    if (connection === undefined) return;
    connection.streams += 1;
    // A client that keeps its side of the stream open doesn't keep the connection busy.
    finished(stream, { readable: false }, () => {
      connection.streams -= 1;
    });
  });
}

/** The oldest idle connection. Busy ones move to the end, so that the next search starts after them. */
function findIdle(connections: Map<Socket, Connection>): Connection | undefined {
  let checked = 0;
  for (const [socket, connection] of connections) {
    const { answer, streams } = connection;
    const isAnswered = answer === undefined || answer.writableFinished || answer.destroyed;
    if (isAnswered && streams === 0) return connection;
    checked += 1;
    if (checked >= Math.min(maxIdleChecks, connections.size)) return undefined;
    connections.delete(socket);
    connections.set(socket, connection);
  }
  return undefined;
}
