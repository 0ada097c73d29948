import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { after } from 'node:test';

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Opens an HTTP/2 connection that closes at the end of the file. */
export async function openHttp2(url: string, ca: string): Promise<ClientHttp2Session> {
  const session = connect(url, { ca });
  session.on('error', () => undefined);
  await once(session, 'connect');
  after(() => session.destroy());
  return session;
}

/** Sends one request. Rejects if its stream ends with an error. */
export async function requestHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [[received]] = (await Promise.all([once(stream, 'response'), once(stream, 'end')])) as [
    [IncomingHttpHeaders],
    unknown,
  ];
  return { status: Number(received[':status']), headers: received, text };
}
