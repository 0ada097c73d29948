import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { codeOf } from '../foundation/database/sqlstate.ts';
import type { CompileResult } from './compile-source.ts';
import type { ThreadAnswer } from './compile-thread.ts';
import type { TemplateSource } from './template-source.ts';

/** The published package holds the same file without types. */
const threadFile = new URL(`./compile-thread${extname(import.meta.filename)}`, import.meta.url);

/** Milliseconds; a usual template takes some hundredths of a second once the libraries are loaded. */
const longestCompile = 20_000;

/** Megabytes of the thread's heap. */
const largestHeap = 512;

/** Milliseconds after which an idle thread ends: with its libraries it holds some ten megabytes. */
const longestIdle = 60_000;

interface Thread {
  readonly worker: Worker;
  /** Once it has loaded what every template needs, which is not the template's time. */
  readonly ready: Promise<unknown>;
}

/**
 * Compiles templates in a thread of its own, one after the other. The libraries take seconds or minutes for some sources
 * that are well within the limits of size: they must neither stand in the way of sending nor go on without end.
 */
export class TemplateCompiler {
  readonly #longest: number;
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param longest milliseconds that one template may take */
  constructor(longest = longestCompile) {
    this.#longest = longest;
  }

  /** The result as `compileSource` makes it; a template that takes too much time or memory has an error that says so. */
  compile(source: TemplateSource): Promise<CompileResult> {
    const compiling = this.#last.then(() => this.#compile(source));
    this.#last = compiling.catch(() => undefined);
    return compiling;
  }

  async #compile(source: TemplateSource): Promise<CompileResult> {
    clearTimeout(this.#idle);
    const thread = this.#thread ?? this.#start();
    this.#thread = thread;
    // The process may end between two templates, but not within one.
    thread.worker.ref();
    try {
      const answer = await this.#ask(thread, source);
      if ('fault' in answer) throw answer.fault;
      return answer.result;
    } finally {
      thread.worker.unref();
      this.#idle = setTimeout(() => this.#end(), longestIdle).unref();
    }
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.worker.terminate();
  }

  #start(): Thread {
    const worker = new Worker(threadFile, {
      resourceLimits: { maxOldGenerationSizeMb: largestHeap },
    });
    const forget = (): void => {
      if (this.#thread?.worker === worker) this.#thread = undefined;
    };
    const ready = once(worker, 'message');
    // Who asks hears of it.
    ready.catch(() => undefined);
    // Without a listener, what goes wrong in an idle thread would end the process.
    return { worker: worker.on('error', forget).on('exit', forget), ready };
  }

  async #ask({ worker, ready }: Thread, source: TemplateSource): Promise<ThreadAnswer> {
    await ready;
    const signal = AbortSignal.timeout(this.#longest);
    const answered = once(worker, 'message', { signal });
    worker.postMessage(source);
    try {
      const [answer] = await answered;
      return answer as ThreadAnswer;
    } catch (cause) {
      this.#thread = undefined;
      await worker.terminate();
      if (signal.aborted)
        return refuse(source, 'too-slow', `takes more than ${this.#longest / 1_000} s to compile`);
      if (codeOf(cause) === 'ERR_WORKER_OUT_OF_MEMORY')
        return refuse(source, 'too-large', `takes more than ${largestHeap} MB to compile`);
      throw cause;
    }
  }
}

function refuse(source: TemplateSource, rule: string, message: string): ThreadAnswer {
  const part = source.mjml === undefined ? 'html' : 'mjml';
  const problem = { severity: 'error', part, rule, message } as const;
  return { result: { compiled: null, fields: [], problems: [problem] } };
}
