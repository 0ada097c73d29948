import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { TransportHeader } from './browser-headers.ts';

export const missingHost = [400, 'The Host header is required'] as const;

/** An expectation other than `100-continue` (RFC 9110 section 10.1.1). */
export const unknownExpectation = [417, 'Expect can only be 100-continue'] as const;

/** True for an HTTP/1.1 request without Host (RFC 9112 section 3.2). */
export function lacksHost(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersion === '1.1';
}

/** Responds to a request by its head in the usual error format and closes the connection, because the body is not read. */
export function refuseHead(
  request: IncomingMessage,
  response: ServerResponse,
  { log, transport }: { readonly log: Log; readonly transport: TransportHeader },
  [status, message]: readonly [status: number, message: string],
): void {
  const requestId = newId();
  log.debug({ requestId, status, method: request.method }, 'refused a request by its head');
  const body = JSON.stringify({ status, message, requestId });
  const head = ['x-request-id', requestId, 'content-type', 'application/json; charset=utf-8'];
  head.push('content-length', String(Buffer.byteLength(body)), 'connection', 'close', ...transport);
  response.writeHead(status, head);
  response.end(body);
}
