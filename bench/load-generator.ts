import { connect, type Socket } from 'node:net';
import { LatencyHistogram } from './latency-histogram.ts';

/**
 * A load generator that costs little: each connection sends a ready-made request, waits for its answer and sends the
 * next one. It runs in a process of its own (`node bench/load-generator.ts`), takes its orders as JSON on standard
 * input and prints what it saw as JSON.
 */
export interface LoadOrder {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Whole requests as they go over the wire, taken in turn; `placeholder` in them becomes a number used only once. */
  readonly requests: readonly string[];
  /** Most requests a second, evenly; undefined: as many as are answered. */
  readonly perSecond?: number;
}

/** Stands where each request gets a number of its own. */
export const placeholder = '#'.repeat(24);

export interface LoadReport {
  readonly answered: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Counts of latencies in steps of 0.1 ms. */
  readonly latencies: readonly number[];
}

/** Drives the load for the time ordered, and lets the last answers come in. */
export async function generateLoad(order: LoadOrder): Promise<LoadReport> {
  const requests = order.requests.map((request) => Buffer.from(request));
  const places = requests.map((request) => request.indexOf(placeholder));
  const first = Date.now() * 1_000_000_000;
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  let taken = 0;
  const startedAt = Date.now();
  const start = performance.now();
  const end = start + order.seconds * 1_000;
  const takeRequest = (): Buffer | undefined => {
    if (performance.now() >= end) return undefined;
    taken += 1;
    const request = requests[taken % requests.length];
    const place = places[taken % requests.length] ?? -1;
    if (request === undefined || place === -1) return request;
    const own = Buffer.from(request);
    own.write(String(BigInt(first) + BigInt(taken)).padStart(placeholder.length, '0'), place);
    return own;
  };
  const record = (status: string, milliseconds: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencies.add(milliseconds);
  };
  const gap = order.perSecond === undefined ? 0 : 1_000 / order.perSecond;
  /** Milliseconds until the next request may go. */
  const waitForTurn = (): number => start + taken * gap - performance.now();
  await Promise.all(
    Array.from({ length: order.connections }, () => drive(order, takeRequest, waitForTurn, record)),
  );
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - start) / 1_000;
  return { answered, statuses, seconds, startedAt, latencies: latencies.counts };
}

function drive(
  { host, port }: LoadOrder,
  takeRequest: () => Buffer | undefined,
  waitForTurn: () => number,
  record: (status: string, milliseconds: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    let sentAt = 0;
    const send = (): void => {
      const wait = waitForTurn();
      if (wait > 1) {
        setTimeout(send, wait);
        return;
      }
      const request = takeRequest();
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

if (import.meta.main) {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const report = await generateLoad(JSON.parse(Buffer.concat(chunks).toString()) as LoadOrder);
  process.stdout.write(JSON.stringify(report));
}
