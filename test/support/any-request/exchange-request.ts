import { type Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import type { AnyRequest } from './any-request.ts';

export interface AnyAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Longer than the service's own timeout for any small body. */
const answerMs = 60_000;

/**
 * Sends a request with its framing and reads the response.
 * @returns undefined if the connection ended without a response, which is valid only for a badly framed request
 */
export async function exchangeRequest(
  base: string,
  sent: AnyRequest,
  caller: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<AnyAnswer | undefined> {
  const { body, framing, method, target } = sent;
  const bytes = body?.bytes() ?? Buffer.alloc(0);
  const headers = { ...caller, ...sent.headers, ...frame(sent, bytes.length) };
  if (body?.type !== undefined) Object.assign(headers, { 'content-type': body.type });
  const { hostname, port } = new URL(base);
  // A badly framed request breaks its connection.
  const wellFramed = isWellFramed(sent);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      hostname,
      port,
      method,
      path: target,
      headers,
      agent: wellFramed ? agent : false,
      timeout: answerMs,
    });
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      const { statusCode: status = 0, headers: fields } = incoming;
      const finish = () =>
        resolve({ status, headers: fields, text: Buffer.concat(chunks).toString('utf8') });
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', finish);
      incoming.on('error', finish);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no response within ${answerMs} ms`)));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server may have responded and closed the connection while the body was still being sent.
      if (!wellFramed || error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(undefined);
      else reject(error);
    });
    write(outgoing, bytes, framing);
  });
}

/** True if the request declares its length correctly. */
export function isWellFramed({ framing, headers }: AnyRequest): boolean {
  return (framing === 'as it is' || framing === 'chunked') && headers.expect === undefined;
}

function write(outgoing: ClientRequest, bytes: Buffer, framing: AnyRequest['framing']): void {
  if (framing !== 'too long') {
    outgoing.end(bytes);
    return;
  }
  // Sends less than declared, then ends.
  outgoing.write(bytes, () => outgoing.socket?.end());
}

function frame({ framing, body }: AnyRequest, length: number): Record<string, string> {
  switch (framing) {
    case 'as it is':
      return body === undefined ? {} : { 'content-length': String(length) };
    case 'chunked':
      return { 'transfer-encoding': 'chunked' };
    case 'too short':
      return { 'content-length': String(Math.max(0, length - 2)) };
    case 'too long':
      return { 'content-length': String(length + 5) };
    case 'nonsense':
      return { 'content-length': '-1' };
    case 'twice':
      return { 'content-length': String(length), 'transfer-encoding': 'chunked' };
  }
}
