import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerOrder, runOrder } from './child-program.ts';
import { LatencyHistogram } from './latency-histogram.ts';

export interface LoadOrder {
  /** On this machine. */
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, each due at its own time; undefined: each connection sends as fast as it is answered. */
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

/** The generator's own pauses would count as the service's: it collects garbage before it begins, and little after. */
const runtimeOptions = [
  '--expose-gc',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
];

/** Runs the load generator in a process of its own. */
export function runLoad(order: LoadOrder): Promise<LoadReport> {
  return runOrder(import.meta.filename, order, runtimeOptions);
}

/** Waits for the last answers. */
async function generateLoad(order: LoadOrder): Promise<LoadReport> {
  const requests = order.requests.map((request) => Buffer.from(request));
  const places = requests.map((request) => request.indexOf(placeholder));
  const numbers = String(Date.now());
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  globalThis.gc?.();
  let sentCount = 0;
  const startedAt = Date.now();
  const start = performance.now();
  const end = start + order.seconds * 1_000;
  const nextRequest = (): Buffer | undefined => {
    if (performance.now() >= end) return undefined;
    sentCount += 1;
    const request = requests[sentCount % requests.length];
    const place = places[sentCount % requests.length] ?? -1;
    if (request === undefined || place === -1) return request;
    // In place: these bytes were last sent thousands of requests ago.
    const number = String(sentCount).padStart(placeholder.length - numbers.length, '0');
    request.write(numbers + number, place, 'latin1');
    return request;
  };
  const record = (status: string, latencyMs: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencies.add(latencyMs);
  };
  if (order.rate === undefined) {
    await Promise.all(
      Array.from({ length: order.connections }, () => drive(order, nextRequest, record)),
    );
  } else await driveAtRate(order, order.rate, nextRequest, record);
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - start) / 1_000;
  return { answered, statuses, seconds, startedAt, latencies: latencies.counts };
}

function drive(
  { port }: LoadOrder,
  nextRequest: () => Buffer | undefined,
  record: (status: string, latencyMs: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let sentAt = 0;
    const send = (): void => {
      const request = nextRequest();
      if (request === undefined) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    readAnswers(socket, (status) => {
      record(status, performance.now() - sentAt);
      send();
    });
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('the server closed a connection')));
  });
}

/**
 * A request that finds no free connection waits, which counts as latency. Each connection answers once before the first
 * request is due, as those of clients that keep them have.
 */
async function driveAtRate(
  { port, connections }: LoadOrder,
  rate: number,
  nextRequest: () => Buffer | undefined,
  record: (status: string, latencyMs: number) => void,
): Promise<void> {
  const free: ((dueAt: number, request: Buffer) => void)[] = [];
  const due: [at: number, request: Buffer][] = [];
  let begun = false;
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      await once(socket, 'connect');
      let dueAt = 0;
      const send = (at: number, request: Buffer): void => {
        dueAt = at;
        socket.write(request);
      };
      readAnswers(socket, (status) => {
        if (begun) record(status, performance.now() - dueAt);
        const next = due.shift();
        if (next === undefined) free.push(send);
        else send(...next);
      });
      free.push(send);
      return socket;
    }),
  );
  for (const send of free.splice(0)) {
    const request = nextRequest();
    if (request === undefined) free.push(send);
    else send(performance.now(), request);
  }
  while (free.length < connections) await delay(1);
  begun = true;
  const start = performance.now();
  for (let count = 0, open = true; open || free.length < connections; await delay(1)) {
    for (; open && start + (count * 1_000) / rate <= performance.now(); count += 1) {
      const request = nextRequest();
      if (request === undefined) open = false;
      else due.push([start + (count * 1_000) / rate, request]);
    }
    while (due.length > 0 && free.length > 0) {
      const next = due.shift();
      if (next !== undefined) free.pop()?.(...next);
    }
  }
  for (const socket of sockets) socket.destroy();
}

const headEnd = Buffer.from('\r\n\r\n');

/** Reads answers that have a Content-Length, as all of the service's have. */
function readAnswers(socket: Socket, onAnswer: (status: string) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const head = rest.indexOf(headEnd);
    if (head === -1) return;
    const text = rest.toString('latin1', 0, head);
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (rest.length < head + headEnd.length + length) return;
    rest = Buffer.alloc(0);
    onAnswer(text.slice(9, 12));
  });
}

if (import.meta.main) await answerOrder(generateLoad);
