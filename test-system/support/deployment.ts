import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { after } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from './free-port.ts';

const root = join(import.meta.dirname, '../..');
const runFile = promisify(execFile);

/** The one code block of a page that contains a text; the test fails if the page changes so that none or several do. */
export function blockWith(page: string, text: string): string {
  const found = codeBlocks(root, page).filter((block) => block.text.includes(text));
  const [block] = found;
  if (block === undefined || found.length > 1)
    throw new Error(`${page}: ${found.length} blocks contain "${text}"`);
  return block.text;
}

/** Replaces what a reader would replace; each text must occur. */
export function substitute(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`"${from}" isn't in:\n${result}`);
    return result.replaceAll(from, to);
  }, text);
}

/** Runs a script like a reader's shell: it stops at the first error. */
export async function runShell(script: string, cwd: string): Promise<string> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const { stdout } = await runFile('sh', ['-eu', '-c', script], {
    cwd,
    env: { PATH: `/usr/lib/postgresql/15/bin:${PATH}`, HOME, NODE_COMPILE_CACHE },
  });
  return stdout;
}

/** A response through the proxy. */
export interface ProxyResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface ProxyRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The loopback address of the client. */
  readonly from?: string;
}

/** A proxy on this machine that serves a host name over TLS. */
export class TlsProxy {
  readonly #host: string;
  readonly #port: number;
  readonly #ca: () => string | Buffer;

  /** @param ca the certificate of its authority */
  constructor(host: string, port: number, ca: () => string | Buffer) {
    this.#host = host;
    this.#port = port;
    this.#ca = ca;
  }

  async request(path: string, options: ProxyRequest = {}): Promise<ProxyResponse> {
    const response = await this.open(path, options);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  /** Resolves once the headers arrived. */
  open(path: string, options: ProxyRequest = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        servername: this.#host,
        ca: this.#ca(),
        localAddress: options.from ?? '127.0.0.1',
        agent: false,
        path,
        method: options.method ?? 'GET',
        headers: { host: this.#host, ...options.headers },
      });
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      outgoing.end(options.body);
    });
  }

  /** The status of a GET over HTTP/2. */
  async requestHttp2(path: string): Promise<number> {
    const session = connect(`https://${this.#host}`, {
      createConnection: () =>
        connectTls({
          host: '127.0.0.1',
          port: this.#port,
          servername: this.#host,
          ca: this.#ca(),
          ALPNProtocols: ['h2'],
        }),
    });
    try {
      const stream = session.request({ ':path': path });
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      return Number(headers[':status']);
    } finally {
      session.destroy();
    }
  }
}

/** Debian's Caddy with the configuration of a page. Its certificates come from its own authority. */
export class Caddy extends TlsProxy {
  /** @param sites site blocks, as a page has them, for one host name */
  static async start(sites: string, host: string, folder: string): Promise<Caddy> {
    const port = await freePort();
    mkdirSync(folder, { recursive: true });
    const options = [
      '{',
      '  admin off',
      '  local_certs',
      '  skip_install_trust',
      `  http_port ${await freePort()}`,
      `  https_port ${port}`,
      `  storage file_system ${folder}`,
      '}',
    ];
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `${options.join('\n')}\n${sites}\n`);
    execFileSync('caddy', ['validate', '--config', file, '--adapter', 'caddyfile'], {
      stdio: 'pipe',
      env: { PATH: process.env.PATH, HOME: folder },
    });
    const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: folder },
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    after(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    const caddy = new Caddy(host, port, () =>
      readFileSync(join(folder, 'pki/authorities/local/root.crt')),
    );
    await waitFor('Caddy to answer', () =>
      caddy.request('/healthz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    return caddy;
  }
}
