import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ClientRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface ClientResponse {
  /** 0 if the connection was closed, or silent for too long. */
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
}

export interface ClientOptions {
  readonly maxSockets?: number;
  readonly timeoutMs?: number;
  /** Of this machine, so that a limit for each network applies to this client alone. */
  readonly localAddress?: string;
}

/** Sends requests to a port of this machine over connections that it keeps. */
export class HttpClient {
  readonly #options: { readonly port: number; readonly timeout: number; readonly agent: Agent };

  constructor(
    port: number,
    { maxSockets = 1, timeoutMs = 20_000, localAddress }: ClientOptions = {},
  ) {
    const agent = new Agent({ keepAlive: true, maxSockets, localAddress });
    this.#options = { port, timeout: timeoutMs, agent };
  }

  ask({ method = 'POST', path, headers = {}, body }: ClientRequest): Promise<ClientResponse> {
    return new Promise((resolve) => {
      const fail = (): void => resolve({ status: 0, cookie: '', text: '' });
      const call = request({
        ...this.#options,
        host: '127.0.0.1',
        method,
        path,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        },
      });
      call.once('response', (answer) => void readAnswer(answer).then(resolve, fail));
      call.once('timeout', () => call.destroy());
      // Also after an answer that came before the end of the body.
      call.on('error', fail);
      call.end(body);
    });
  }

  close(): void {
    this.#options.agent.destroy();
  }
}

async function readAnswer(answer: IncomingMessage): Promise<ClientResponse> {
  return {
    status: answer.statusCode ?? 0,
    cookie: (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '',
    text: await text(answer),
  };
}
