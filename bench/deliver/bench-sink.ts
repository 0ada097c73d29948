import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { forkFile } from '../child-program.ts';

interface SinkUpdate {
  readonly port?: number;
  readonly taken?: number;
  readonly first?: number;
  readonly singles?: readonly (readonly [address: string, at: number])[];
}

const timeoutMs = 600_000;

/** The machine's monotonic clock in milliseconds, which all processes share. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A receiver in a separate process that does as little as possible. */
export class BenchSink {
  readonly port: number;
  /** Messages since `reset`. */
  taken = 0;
  /** When the first of them arrived, on `monotonicNow`'s clock. */
  first = Number.NaN;
  readonly #child: ChildProcess;
  readonly #singles = new Map<string, number>();

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
    child.on('message', ({ taken = 0, first = Number.NaN, singles = [] }: SinkUpdate) => {
      this.taken = taken;
      this.first = first;
      for (const [address, at] of singles) this.#singles.set(address, at);
    });
  }

  static async start(): Promise<BenchSink> {
    const child = forkFile(import.meta.filename);
    const [update] = (await once(child, 'message')) as [SinkUpdate];
    return new BenchSink(child, update.port ?? 0);
  }

  /** SMTP_URL of a process with so many connections. */
  smtpUrl(connections: number): string {
    return `smtp://127.0.0.1:${this.port}?tls=off&connections=${connections}&messages=100000`;
  }

  async reset(): Promise<void> {
    const update = once(this.#child, 'message');
    this.#child.send('reset');
    await update;
  }

  async waitForCount(count: number): Promise<void> {
    await this.#waitFor(() => (this.taken >= count ? true : undefined));
  }

  /** @param address begins with `single`. @returns when its message arrived */
  waitForSingle(address: string): Promise<number> {
    return this.#waitFor(() => this.#singles.get(address));
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }

  async #waitFor<Value>(find: () => Value | undefined): Promise<Value> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await once(this.#child, 'message', { signal });
    }
  }
}

const crlf = Buffer.from('\r\n');
const finalDot = Buffer.from('\r\n.\r\n');
const singleRcpt = 'RCPT TO:<single';

/** Pipelines (RFC 2920), and looks only for line ends and final dots. */
function runSink(): void {
  let taken = 0;
  let first: number | undefined;
  let singles: [string, number][] = [];
  let reporting = false;
  const report = (): void => {
    reporting = false;
    process.send?.({ taken, first, singles });
    singles = [];
  };
  const serve = (socket: Socket): void => {
    let rest: Buffer = Buffer.alloc(0);
    let inText = false;
    let single: string | undefined;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.write('220 sink ESMTP\r\n');
    socket.on('data', (chunk: Buffer) => {
      let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let replies = '';
      for (;;) {
        const end = data.indexOf(inText ? finalDot : crlf);
        if (end === -1) break;
        if (inText) {
          data = data.subarray(end + finalDot.length);
          inText = false;
          taken += 1;
          first ??= monotonicNow();
          if (single !== undefined) singles.push([single, monotonicNow()]);
          single = undefined;
          // Once for all that arrived in one event-loop turn.
          if (!reporting) setImmediate(report);
          reporting = true;
          replies += '250 2.0.0 Taken\r\n';
          continue;
        }
        const verb = data.toString('latin1', 0, 4);
        if (verb === 'RCPT' && data.toString('latin1', 0, singleRcpt.length) === singleRcpt)
          single = data.toString('latin1', 9, data.indexOf('>'));
        data = data.subarray(end + crlf.length);
        inText = verb === 'DATA';
        if (inText) replies += '354 Go on\r\n';
        else if (verb === 'EHLO')
          replies += '250-sink\r\n250-PIPELINING\r\n250-SIZE\r\n250 8BITMIME\r\n';
        else replies += verb === 'QUIT' ? '221 Bye\r\n' : '250 2.0.0 Ok\r\n';
      }
      rest = data;
      if (replies !== '') socket.write(replies);
    });
  };
  process.on('message', () => {
    taken = 0;
    first = undefined;
    process.send?.({ taken });
  });
  process.on('disconnect', () => process.exit(0));
  const server = createServer(serve).listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port });
  });
}

if (import.meta.main) runSink();
