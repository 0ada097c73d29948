import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { codeOf } from './database/sqlstate.ts';
import { type FairSlotLimits, FairSlots } from './fair-slots.ts';

/** Milliseconds after which an idle thread ends: with its libraries it holds some ten megabytes. */
const maxIdleMs = 60_000;

/** A job took more than it may; its thread was ended. */
export class ThreadOverrun extends Error {
  override name = 'ThreadOverrun';
  readonly of: 'time' | 'memory';

  constructor(of: 'time' | 'memory') {
    super(`a job took too much ${of}`);
    this.of = of;
  }
}

/** What a thread answers to each job: its result, or the fault of this program that kept it from one. */
export type ThreadAnswer<Result> = { readonly result: Result } | { readonly fault: unknown };

export interface ThreadPoolOptions {
  /** It says `ready` once it has loaded what every job needs, and then answers each job with a `ThreadAnswer`. */
  readonly file: URL;
  /** Milliseconds of a processor that one job may take, the loading not counted; by the clock, three times as many. */
  readonly timeout: number;
  /** Megabytes of a thread's heap. */
  readonly heap: number;
  /** A slot is a thread. */
  readonly slotLimits: FairSlotLimits;
}

interface Thread {
  readonly worker: Worker;
  readonly ready: Promise<unknown>;
  idle: NodeJS.Timeout | undefined;
}

/** Runs jobs beside the event loop, each within a time and a heap of its own; groups share the threads fairly. */
export class ThreadPool<Job, Result> {
  readonly #options: ThreadPoolOptions;
  readonly #slots: FairSlots;
  readonly #free: Thread[] = [];

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#slots = new FairSlots(options.slotLimits);
  }

  /**
   * @param group whose job it is; undefined: the operator's own, which waits for as long as it takes
   * @throws Busy where no thread is free in time
   * @throws ThreadOverrun where the job takes too much time or memory
   */
  async run(job: Job, group: string | undefined): Promise<Result> {
    const release = await this.#slots.acquire(group ?? '', group === undefined);
    try {
      const answer = await this.#runIn(this.#free.pop() ?? this.#start(), job);
      if ('fault' in answer) throw answer.fault;
      return answer.result;
    } finally {
      release();
    }
  }

  async #runIn(thread: Thread, job: Job): Promise<ThreadAnswer<Result>> {
    clearTimeout(thread.idle);
    // The process may end between two jobs, but not within one.
    thread.worker.ref();
    const answer = await this.#ask(thread, job);
    thread.worker.unref();
    thread.idle = setTimeout(() => this.#end(thread), maxIdleMs).unref();
    this.#free.push(thread);
    return answer;
  }

  async #ask({ worker, ready }: Thread, job: Job): Promise<ThreadAnswer<Result>> {
    const overrun = new AbortController();
    let watch: NodeJS.Timeout | undefined;
    try {
      await ready;
      watch = await this.#watch(worker, overrun);
      const answered = once(worker, 'message', { signal: overrun.signal });
      worker.postMessage(job);
      const [answer] = await answered;
      return answer as ThreadAnswer<Result>;
    } catch (cause) {
      await worker.terminate();
      if (overrun.signal.aborted) throw new ThreadOverrun('time');
      if (codeOf(cause) === 'ERR_WORKER_OUT_OF_MEMORY') throw new ThreadOverrun('memory');
      throw cause;
    } finally {
      clearInterval(watch);
    }
  }

  /** Aborts once the thread has had its time. It waits for the processor behind all others, so that is not the time of the clock. */
  async #watch(worker: Worker, overrun: AbortController): Promise<NodeJS.Timeout> {
    const { timeout } = this.#options;
    const began = performance.now();
    const before = await worker.cpuUsage();
    const checkUsage = async (): Promise<void> => {
      const { user, system } = await worker.cpuUsage(before);
      const tooLong = user + system > timeout * 1_000 || performance.now() - began > 3 * timeout;
      if (tooLong) overrun.abort();
    };
    // A thread that has ended says so itself.
    return setInterval(() => void checkUsage().catch(() => undefined), timeout / 20);
  }

  #start(): Thread {
    const { file, heap } = this.#options;
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: heap } });
    const ready = once(worker, 'message');
    // Who asks hears of it.
    ready.catch(() => undefined);
    const thread: Thread = { worker, ready, idle: undefined };
    const forget = (): void => this.#forget(thread);
    // Without a listener, what goes wrong in an idle thread would end the process.
    worker.on('error', forget).on('exit', forget);
    return thread;
  }

  #forget(thread: Thread): void {
    clearTimeout(thread.idle);
    const place = this.#free.indexOf(thread);
    if (place !== -1) this.#free.splice(place, 1);
  }

  #end(thread: Thread): void {
    this.#forget(thread);
    void thread.worker.terminate();
  }
}
