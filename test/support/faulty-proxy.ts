import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** What the proxy does with a request; `cut …` breaks its connection. */
export type ProxyFault =
  | 'none'
  | 'cut before'
  | 'cut within'
  | 'cut after'
  | 'cut answer'
  | 'delay'
  | '429'
  | '500'
  | '502'
  | '503'
  | 'redirect'
  | 'silence';

/** An HTTP proxy that loses requests and responses, as networks and other proxies do. It stops at the end of the file. */
export class FaultyProxy {
  readonly url: string;
  /** Chooses what happens to the next request. */
  nextFault: () => ProxyFault = () => 'none';
  /** Requests so far, by fault. */
  readonly counts = new Map<ProxyFault, number>();

  private constructor(url: string) {
    this.url = url;
  }

  static async start(target: string): Promise<FaultyProxy> {
    const server = createServer((incoming, outgoing) => {
      const fault = proxy.nextFault();
      proxy.counts.set(fault, (proxy.counts.get(fault) ?? 0) + 1);
      void treat(fault, target, incoming, outgoing);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    const proxy = new FaultyProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return proxy;
  }

  get requests(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }
}

async function treat(
  fault: ProxyFault,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (fault === 'cut before') incoming.socket.destroy();
  else if (fault === '429') outgoing.writeHead(429, { 'retry-after': '2' }).end('{}');
  else if (fault === '500') outgoing.writeHead(500).end('{}');
  else if (fault === '502') outgoing.writeHead(502).end('<h1>Bad gateway</h1>');
  else if (fault === '503') outgoing.writeHead(503, { 'retry-after': '0' }).end('busy');
  else if (fault === 'redirect') outgoing.writeHead(302, { location: 'https://else.test' }).end();
  else if (fault !== 'silence') {
    if (fault === 'delay') await delay(20);
    forward(fault, target, incoming, outgoing);
  }
}

function forward(
  fault: ProxyFault,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const { method, headers } = incoming;
  const forwarded = request(
    new URL(incoming.url ?? '/', target),
    { method, headers },
    (response) => {
      if (fault === 'cut after') response.resume().on('end', () => incoming.socket.destroy());
      else if (fault === 'cut answer') {
        outgoing.writeHead(response.statusCode ?? 500, response.headers).flushHeaders();
        response.once('data', (chunk: Buffer) => {
          outgoing.write(chunk.subarray(0, chunk.length / 2), () => incoming.socket.destroy());
        });
      } else response.pipe(outgoing.writeHead(response.statusCode ?? 500, response.headers));
    },
  );
  forwarded.on('error', () => incoming.socket.destroy());
  if (fault !== 'cut within') {
    incoming.pipe(forwarded);
    return;
  }
  // The service waits for the rest of the body.
  forwarded.flushHeaders();
  incoming.once('data', (chunk: Buffer) => {
    forwarded.write(chunk.subarray(0, chunk.length / 2), () => {
      forwarded.destroy();
      incoming.socket.destroy();
    });
  });
}
