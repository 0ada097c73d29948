import { extname } from 'node:path';
import { memoryShare } from '../fairness/memory-share.ts';
import { policies } from '../fairness/policies.ts';
import { ThreadPool } from '../threads/thread-pool.ts';

/** The published package contains the same file as JavaScript. */
const extension = extname(import.meta.filename);

/** Larger mail is read in a thread, even by the service's own code. */
const maxBytesAtOnce = 64 * 1_024;
/** Processor time for a job; the largest mail takes a second or two. */
const timeoutMs = 10_000;
/** Megabytes; contents of attachments are outside of the heap. */
const heapMb = Math.round(512 * memoryShare());

/** Work for a thread: the file and its function that does it, and its input. */
export interface MailJob {
  readonly file: string;
  readonly run: string;
  readonly input: { readonly source: Uint8Array };
}

/** Shared by the process; threads start with the first job. */
const threads = new ThreadPool<MailJob, unknown>({
  file: new URL(`./mail-thread${extension}`, import.meta.url),
  timeout: timeoutMs,
  heap: heapMb,
  policy: policies.mailThreads,
});

/** How a job waits for its turn. */
export interface MailTurn {
  /** The account whose mail it is, or what stands for one; these take turns. */
  readonly group: string;
  /** Without a limit, for work whose number is limited elsewhere. */
  readonly patient?: boolean;
}

/**
 * A function that reads outsiders' mail off the event loop, in threads with limits that accounts share fairly. What the mail
 * does to its thread, it does to no one else.
 * @param work a function that the caller's module exports and that reads small mail at once, because it is only code of the
 *   service, which is linear. Otherwise the name of a file beside the caller's: `read-x-job` exports `readXJob`. Its input and
 *   result are copied
 * @param caller `import.meta.url`
 * @returns rejects with `Busy` if too many wait, with `ThreadOverrun` beyond the limits, and with what the function threw
 */
export function mailJob<Input extends { readonly source: Buffer }, Result>(
  work: ((input: Input) => Result) | string,
  caller: string,
): (input: Input, turn: MailTurn) => Promise<Result> {
  const [file, run] =
    typeof work === 'string'
      ? [new URL(`./${work}${extension}`, caller).href, toCamelCase(work)]
      : [caller, work.name];
  return async (input, { group, patient = false }) =>
    typeof work !== 'string' && input.source.byteLength <= maxBytesAtOnce
      ? work(input)
      : ((await threads.run({ file, run, input }, group, patient)) as Result);
}

function toCamelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The bytes of mail that came to or from a thread as a plain array. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
