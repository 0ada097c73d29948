import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ClientRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type HttpClient = ReturnType<typeof openClient>;

/** Sends over connections that it keeps to a port of this machine. A limit for each network applies to a `localAddress`. */
export function openClient(
  port: number,
  { maxSockets = 1, timeoutMs = 20_000, localAddress = '127.0.0.1' } = {},
) {
  const agent = new Agent({ keepAlive: true, maxSockets, localAddress });
  /** The status is 0 if the connection was closed, or the response took too long. */
  return async ({ method = 'POST', path, headers = {}, body }: ClientRequest) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const call = request({ host: '127.0.0.1', port, agent, method, path, headers, signal });
    // Also after a response that came before the end of the body.
    call.on('error', () => undefined).end(body);
    try {
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      const [cookie = ''] = response.headers['set-cookie']?.[0]?.split(';') ?? [];
      return { status: response.statusCode ?? 0, cookie, text: await text(response) };
    } catch {
      return { status: 0, cookie: '', text: '' };
    }
  };
}
