import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { codeOf } from '../database/sqlstate.ts';
import { Limiter, type Policy } from '../fairness/limiter.ts';
import { memoryShare } from '../fairness/memory-share.ts';

/** Idle timeout of a thread, whose libraries occupy tens of megabytes. */
const maxIdleMs = memoryShare() < 1 ? 5_000 : 60_000;

/** A job exceeded its limits; its thread was terminated. */
export class ThreadOverrun extends Error {
  override name = 'ThreadOverrun';
  readonly of: 'time' | 'memory';

  constructor(of: 'time' | 'memory') {
    super(`a job used too much ${of}`);
    this.of = of;
  }
}

/** The response of a thread: the result, or the error that a bug caused. */
export type ThreadAnswer<Result> = { readonly result: Result } | { readonly fault: unknown };

export interface ThreadPoolOptions {
  /** The thread posts `ready` once everything is loaded, then a `ThreadAnswer` per job. */
  readonly file: URL;
  /** Max processor time per job in milliseconds, without loading; wall time may be three times as long. */
  readonly timeout: number;
  /** Max heap of a thread, in megabytes. */
  readonly heap: number;
  /** One slot is one thread. */
  readonly policy: Policy;
}

interface Thread {
  readonly worker: Worker;
  readonly ready: Promise<unknown>;
  idle: NodeJS.Timeout | undefined;
}

/** Runs jobs in threads with time and memory limits; groups share the threads fairly. */
export class ThreadPool<Job, Result> {
  readonly #options: ThreadPoolOptions;
  readonly #slots: Limiter;
  readonly #free: Thread[] = [];

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#slots = new Limiter(options.policy);
  }

  /**
   * @param group the group of the job; undefined for the operator's own jobs
   * @param patient waits without a limit, as the operator's own jobs do
   * @throws Busy if no thread becomes free in time
   * @throws ThreadOverrun if the job uses too much time or memory
   */
  async run(job: Job, group: string | undefined, patient = group === undefined): Promise<Result> {
    const { release } = await this.#slots.acquire(group ?? '', { patient });
    try {
      const response = await this.#runIn(this.#free.pop() ?? this.#start(), job);
      if ('fault' in response) throw response.fault;
      return response.result;
    } finally {
      release();
    }
  }

  async #runIn(thread: Thread, job: Job): Promise<ThreadAnswer<Result>> {
    clearTimeout(thread.idle);
    // Keeps the process alive during a job, but not between jobs.
    thread.worker.ref();
    const response = await this.#ask(thread, job);
    thread.worker.unref();
    // A job that threw can have left anything behind, also in the prototypes that all objects share.
    if ('fault' in response) {
      this.#end(thread);
      return response;
    }
    thread.idle = setTimeout(() => this.#end(thread), maxIdleMs).unref();
    this.#free.push(thread);
    return response;
  }

  async #ask({ worker, ready }: Thread, job: Job): Promise<ThreadAnswer<Result>> {
    const overrun = new AbortController();
    const settled = new AbortController();
    // Ending between two jobs, it would respond to nothing.
    const exited = once(worker, 'exit', { signal: settled.signal }).then(() => {
      throw new Error('the thread ended');
    });
    let watch: NodeJS.Timeout | undefined;
    try {
      await Promise.race([ready, exited]);
      const before = await Promise.race([worker.cpuUsage(), exited]);
      watch = this.#watch(worker, before, overrun);
      const answered = once(worker, 'message', { signal: overrun.signal });
      worker.postMessage(job);
      const [response] = await Promise.race([answered, exited]);
      return response as ThreadAnswer<Result>;
    } catch (cause) {
      await worker.terminate();
      if (overrun.signal.aborted) throw new ThreadOverrun('time');
      if (codeOf(cause) === 'ERR_WORKER_OUT_OF_MEMORY') throw new ThreadOverrun('memory');
      throw cause;
    } finally {
      clearInterval(watch);
      settled.abort();
    }
  }

  /** Aborts once the thread has used its processor time. Wall time wouldn't do, because the thread runs at low priority. */
  #watch(worker: Worker, before: NodeJS.CpuUsage, overrun: AbortController): NodeJS.Timeout {
    const { timeout } = this.#options;
    const began = performance.now();
    const checkUsage = async (): Promise<void> => {
      const { user, system } = await worker.cpuUsage(before);
      const tooLong = user + system > timeout * 1_000 || performance.now() - began > 3 * timeout;
      if (tooLong) overrun.abort();
    };
    // A thread that has ended emits its own event.
    return setInterval(() => void checkUsage().catch(() => undefined), timeout / 20);
  }

  #start(): Thread {
    const { file, heap } = this.#options;
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: heap } });
    const ready = once(worker, 'message');
    // The caller gets the error.
    ready.catch(() => undefined);
    const thread: Thread = { worker, ready, idle: undefined };
    const forget = (): void => this.#forget(thread);
    // Without a listener, an error in an idle thread would end the process.
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
