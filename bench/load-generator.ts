import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerOrder, runOrder } from './child-program.ts';
import { LatencyHistogram } from './latency-histogram.ts';

export interface LoadOrder {
  /** On this machine. */
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, each due at its own time; undefined: each connection sends its next request after a response. */
  readonly rate?: number;
  /** Whole requests as they go over the wire, sent in turn. */
  readonly requests: readonly string[];
}

/** Replaced by a number that is unique to each request. */
export const placeholder = '#'.repeat(24);

export interface LoadReport {
  readonly answered: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The counts of a `LatencyHistogram`, from when each request was due. */
  readonly latencies: readonly number[];
}

/** The generator's own pauses would count as the service's, so it collects garbage before it begins, and rarely afterwards. */
const runtimeOptions = [
  '--expose-gc',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
];

/** Runs the load generator in a separate process. */
export function runLoad(order: LoadOrder): Promise<LoadReport> {
  return runOrder(import.meta.filename, order, runtimeOptions);
}

/** Waits for the last responses. */
async function generateLoad(order: LoadOrder): Promise<LoadReport> {
  const { port, connections, rate } = order;
  const requests = order.requests.map((request) => Buffer.from(request));
  const places = requests.map((request) => request.indexOf(placeholder));
  const prefix = String(Date.now());
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  let answered = 0;
  let sentCount = 0;
  const nextRequest = (): Buffer => {
    sentCount += 1;
    const request = requests[sentCount % requests.length] ?? Buffer.alloc(0);
    const place = places[sentCount % requests.length] ?? -1;
    const number = prefix + String(sentCount).padStart(placeholder.length - prefix.length, '0');
    // In place, since these bytes were last sent thousands of requests ago.
    if (place !== -1) request.write(number, place, 'latin1');
    return request;
  };
  globalThis.gc?.();
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)));
  // Like a client's persistent connections, each has been used before.
  if (rate !== undefined) await Promise.all(sockets.map(({ ask }) => ask(nextRequest())));
  const startedAt = Date.now();
  const start = performance.now();
  const end = start + order.seconds * 1_000;
  let scheduled = 0;
  /** Whichever connection is free takes the next request; while none is, requests become late, which counts as latency. */
  const drive = async ({ ask }: AskingSocket): Promise<void> => {
    for (;;) {
      const now = performance.now();
      const dueAt = rate === undefined ? now : start + (scheduled++ * 1_000) / rate;
      if (dueAt >= end) return;
      if (dueAt > now) await delay(Math.ceil(dueAt - now));
      const status = await ask(nextRequest());
      latencies.add(performance.now() - dueAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answered += 1;
    }
  };
  await Promise.all(sockets.map(drive));
  const seconds = (performance.now() - start) / 1_000;
  for (const { socket } of sockets) socket.destroy();
  return { answered, statuses, seconds, startedAt, latencies: latencies.counts };
}

type AskingSocket = Awaited<ReturnType<typeof openSocket>>;

const headEnd = Buffer.from('\r\n\r\n');

/** Responses must have a Content-Length, as all of the service's do. */
async function openSocket(port: number) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  let response = Promise.withResolvers<string>();
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const head = rest.indexOf(headEnd);
    if (head === -1) return;
    const text = rest.toString('latin1', 0, head);
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (rest.length < head + headEnd.length + length) return;
    rest = Buffer.alloc(0);
    response.resolve(text.slice(9, 12));
  });
  socket.once('error', (error) => response.reject(error));
  socket.once('end', () => response.reject(new Error('the server closed a connection')));
  /** @returns the status */
  const ask = (request: Buffer): Promise<string> => {
    response = Promise.withResolvers();
    socket.write(request);
    return response.promise;
  };
  return { socket, ask };
}

if (import.meta.main) await answerOrder(generateLoad);
