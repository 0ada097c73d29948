import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

interface SinkUpdate {
  readonly port?: number;
  readonly taken?: number;
  readonly first?: number;
  readonly singles?: readonly { readonly address: string; readonly at: number }[];
}

/** What takes longer than this has gone wrong. */
export const sinkTimeoutMs = 600_000;

/** The machine's monotonic clock in milliseconds, as the sink reads it too. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The fast sink in a process of its own. */
export class BenchSink {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  readonly #singles = new Map<string, number>();
  #taken = 0;
  #first: number | undefined;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
    child.on('message', (update: SinkUpdate) => {
      this.#taken = update.taken ?? this.#taken;
      this.#first = update.first;
      for (const { address, at } of update.singles ?? []) this.#singles.set(address, at);
      for (const watch of this.#watchers) watch();
    });
  }

  static async start(): Promise<BenchSink> {
    const child = fork(join(import.meta.dirname, 'fast-sink.ts'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const [update] = (await once(child, 'message')) as [SinkUpdate];
    return new BenchSink(child, update.port ?? 0);
  }

  /** Messages taken since `reset`. */
  get taken(): number {
    return this.#taken;
  }

  /** When the first of them came, on `monotonicNow`'s clock. */
  get first(): number {
    return this.#first ?? Number.NaN;
  }

  /** Counts from 0 again. */
  async reset(): Promise<void> {
    const update = once(this.#child, 'message');
    this.#child.send('reset');
    await update;
  }

  /** Resolves once it took so many. */
  waitForCount(count: number): Promise<void> {
    return this.#until(() => (this.#taken >= count ? true : undefined)).then(() => undefined);
  }

  /** Resolves with the time at which the message for an address that begins with `single` came. */
  waitForSingle(address: string): Promise<number> {
    return this.#until(() => {
      const at = this.#singles.get(address);
      this.#singles.delete(address);
      return at;
    });
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }

  #until<Value>(find: () => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(watch);
        reject(new Error(`the sink has taken ${this.#taken} messages and waits for more in vain`));
      }, sinkTimeoutMs);
      const watch = (): void => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#watchers.delete(watch);
        resolve(found);
      };
      this.#watchers.add(watch);
      watch();
    });
  }
}
