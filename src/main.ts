import './base/threads/lock-intrinsics.ts';
import { codeOf } from './base/database/sqlstate.ts';
import { runCommand } from './operating/command/run-command.ts';

// A pipe's reader may close it early, as `head` does. That isn't an error and must not stop the service.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), process.env, {
  in: process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
// A channel to the process that started this one must not keep it alive once it is done.
process.channel?.unref();
