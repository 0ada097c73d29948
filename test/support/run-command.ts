import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { runCommand } from '../../src/operating/command/run-command.ts';

/** What a command printed, and its exit code. */
export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the command line in this process; an error that isn't the operator's ends it as it ends a process. */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  input = '',
): Promise<Finished> {
  let out = '';
  let err = '';
  const code = await runCommand(args, environment, {
    in: Readable.from([Buffer.from(input)]),
    out(text) {
      out += text;
    },
    err(text) {
      err += text;
    },
  }).catch((error: unknown) => {
    err += inspect(error);
    return 1;
  });
  return { code, out, err };
}
