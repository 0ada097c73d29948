import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { TransportHeader } from './strict-transport.ts';

interface ClientError extends Error {
  readonly code?: string;
  /** The parser's description of the error. */
  readonly reason?: string;
}

/**
 * Responds to malformed or incomplete HTTP requests in the usual error format and closes the connection: 408 if it took
 * too long, 431 if the header fields are too large (RFC 6585 section 5), else 400.
 */
export function answerClientError(
  error: ClientError,
  socket: Socket,
  log: Log,
  transport: TransportHeader,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const [status, message] = describe(error);
  const requestId = newId();
  log.debug({ err: error, requestId, status }, 'received a malformed HTTP request');
  const body = JSON.stringify({ status, message, requestId });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(transport.length === 0 ? [] : [transport.join(': ')]),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy(error);
}

function describe({ code, reason }: ClientError): readonly [status: number, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'The header fields are larger than 16 KiB'];
  return [400, reason ? `Malformed HTTP request: ${reason}` : 'Malformed HTTP request'];
}
