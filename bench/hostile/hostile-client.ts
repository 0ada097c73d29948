import { Agent, type IncomingMessage, request } from 'node:http';

export interface HostileRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** What came back; status 0 where the connection was closed without an answer. */
export interface HostileAnswer {
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
}

/** After so many milliseconds without an answer a client gives up. */
const requestTimeoutMs = 20_000;

/** One attacker with an address of its own, so that a limit for each network meets it alone. */
export class HostileClient {
  readonly address: string;
  readonly #agent: Agent;
  readonly #port: number;

  constructor(port: number, number: number) {
    this.#port = port;
    this.address = `127.66.${number}.1`;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  ask({ method = 'POST', path, headers = {}, body }: HostileRequest): Promise<HostileAnswer> {
    return new Promise((resolve) => {
      const fail = (): void => resolve({ status: 0, cookie: '', text: '' });
      const call = request({
        host: '127.0.0.1',
        port: this.#port,
        localAddress: this.address,
        agent: this.#agent,
        method,
        path,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        },
        timeout: requestTimeoutMs,
      });
      call.once('response', (answer) => void readAnswer(answer).then(resolve, fail));
      call.once('timeout', () => call.destroy());
      // After an answer that came before the end of the body, too.
      call.on('error', fail);
      call.end(body);
    });
  }
}

async function readAnswer(answer: IncomingMessage): Promise<HostileAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return {
    status: answer.statusCode ?? 0,
    cookie: (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '',
    text: Buffer.concat(chunks).toString(),
  };
}
