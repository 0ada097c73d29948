import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A raw request and its response. */
export interface RawConversation {
  readonly socket: Socket;
  /** The response so far. */
  text(): string;
  /** Bytes of the body sent so far. */
  sent(): number;
  readonly closed: Promise<void>;
}

export interface RawHead {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a connection and writes the head of a request; the caller writes the body. */
export async function openRawRequest(base: string, head: RawHead): Promise<RawConversation> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  const lines = [`${head.method ?? 'POST'} ${head.path} HTTP/1.1`, 'Host: signalpost.test'];
  for (const [name, value] of Object.entries(head.headers ?? {})) lines.push(`${name}: ${value}`);
  const written = `${lines.join('\r\n')}\r\n\r\n`;
  socket.write(written);
  return {
    socket,
    text: () => text,
    sent: () => Math.max(0, socket.bytesWritten - socket.writableLength - written.length),
    closed,
  };
}

/** A header that makes a request come from another network, through the trusted proxy. */
export function forwardedFrom(address: string): Readonly<Record<string, string>> {
  return { 'x-forwarded-for': address };
}

/** The environment of a service behind such a proxy. */
export const behindProxy = { TRUST_PROXY: '127.0.0.1' };
