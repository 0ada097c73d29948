import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

interface Told {
  readonly port?: number;
  readonly taken?: number;
  readonly first?: number;
  readonly singles?: readonly { readonly address: string; readonly at: number }[];
}

/** What takes longer than this has gone wrong. */
export const patience = 600_000;

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
    child.on('message', (told: Told) => {
      this.#taken = told.taken ?? this.#taken;
      this.#first = told.first;
      for (const { address, at } of told.singles ?? []) this.#singles.set(address, at);
      for (const watch of this.#watchers) watch();
    });
  }

  static async start(): Promise<BenchSink> {
    const child = fork(join(import.meta.dirname, 'fast-sink.ts'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const [told] = (await once(child, 'message')) as [Told];
    return new BenchSink(child, told.port ?? 0);
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
    const told = once(this.#child, 'message');
    this.#child.send('reset');
    await told;
  }

  /** Resolves once it took so many. */
  reaches(count: number): Promise<void> {
    return this.#until(() => (this.#taken >= count ? true : undefined)).then(() => undefined);
  }

  /** Resolves with the time at which the message for an address that begins with `single` came. */
  single(address: string): Promise<number> {
    return this.#until(() => {
      const at = this.#singles.get(address);
      this.#singles.delete(address);
      return at;
    });
  }

  stop(): void {
    this.#child.disconnect();
  }

  #until<Value>(look: () => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(watch);
        reject(new Error(`the sink has taken ${this.#taken} messages and waits for more in vain`));
      }, patience);
      const watch = (): void => {
        const found = look();
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
