import { extname } from 'node:path';
import { memoryShare } from '../memory-share.ts';
import { policies } from '../policies.ts';
import { ThreadPool } from '../thread-pool.ts';

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
  readonly input: unknown;
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
 * @param name of the job's file, beside the caller's: `read-x-job` exports `readXJob`. Its input and result are copied
 * @param caller `import.meta.url`
 * @param direct the same function for small mail, if that is only code of the service, which is linear
 * @returns rejects with `Busy` if too many wait, with `ThreadOverrun` beyond the limits, and with what the function threw
 */
export function mailJob<Input extends { readonly source: Uint8Array }, Result>(
  name: string,
  caller: string,
  direct?: (input: Input) => Result,
): (input: Input, turn: MailTurn) => Promise<Result> {
  const file = new URL(`./${name}${extension}`, caller).href;
  const run = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return async (input, { group, patient = false }) =>
    direct !== undefined && input.source.byteLength <= maxBytesAtOnce
      ? direct(input)
      : ((await threads.run({ file, run, input }, group, patient)) as Result);
}

/** The bytes of mail that came to a thread as a plain array. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
