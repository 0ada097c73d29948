import { extname } from 'node:path';
import { memoryShare } from '../../base/fairness/memory-share.ts';
import { policies } from '../../base/fairness/policies.ts';
import { ThreadOverrun, ThreadPool } from '../../base/threads/thread-pool.ts';
import type { CompileResult } from './compile-source.ts';
import type { CompileJob } from './compile-version.ts';
import type { MarkupFormat } from './compiled-template.ts';
import type { TemplateSource } from './template-source.ts';

/** The published package contains the same file as JavaScript. */
const threadFile = new URL(`./compile-thread${extname(import.meta.filename)}`, import.meta.url);

/** A typical template takes tens of milliseconds once the libraries are loaded. */
const defaultCompileTimeoutMs = 20_000;

/** Megabytes of heap per thread. */
const maxHeapMb = Math.round(512 * memoryShare());

/**
 * Compiles templates off the event loop. Some sources within the size limits keep the libraries busy for minutes;
 * they must not block sending, run forever or hold up other accounts.
 */
export class TemplateCompiler {
  readonly #timeoutMs: number;
  readonly #threads: ThreadPool<CompileJob, CompileResult>;

  /** @param timeoutMs time limit for one template */
  constructor(timeoutMs = defaultCompileTimeoutMs) {
    this.#timeoutMs = timeoutMs;
    this.#threads = new ThreadPool({
      file: threadFile,
      timeout: timeoutMs,
      heap: maxHeapMb,
      policy: policies.templateThreads,
    });
  }

  /**
   * Returns the result of `compileVersion`, with an error if the template exceeds the time or memory limit.
   * @param group the requesting account; undefined: the operator
   * @param format markup format of an earlier version; undefined: the current one
   * @throws Busy if too many are waiting
   */
  async compile(
    source: TemplateSource,
    group?: string,
    format?: MarkupFormat,
  ): Promise<CompileResult> {
    try {
      return await this.#threads.run({ source, format }, group);
    } catch (error) {
      if (!(error instanceof ThreadOverrun)) throw error;
      if (error.of === 'time')
        return failWith(
          source,
          'too-slow',
          `takes more than ${this.#timeoutMs / 1_000} s to compile`,
        );
      return failWith(source, 'too-large', `takes more than ${maxHeapMb} MB to compile`);
    }
  }
}

function failWith(source: TemplateSource, rule: string, message: string): CompileResult {
  const part = source.mjml === undefined ? 'html' : 'mjml';
  const problem = { severity: 'error', part, rule, message } as const;
  return { compiled: null, fields: [], problems: [problem] };
}

export type { CompileResult } from './compile-source.ts';

/** One per process: its threads load their libraries when the first template is compiled. */
const compiler = new TemplateCompiler();

/**
 * Does the work shared by all messages of a template version: MJML to HTML, CSS into attributes, the text part from the
 * HTML, the escaping of each field, the table of links. Problems of the template are in the result.
 * @param group the requesting account; accounts take turns. Undefined: the operator
 * @param format markup format of an earlier version; undefined: the current one
 * @throws Busy if the account has too many templates waiting
 */
export function compileTemplate(
  source: TemplateSource,
  group?: string,
  format?: MarkupFormat,
): Promise<CompileResult> {
  return compiler.compile(source, group, format);
}
