import { runCommand } from './command/run-command.ts';
import { codeOf } from './foundation/database/sqlstate.ts';
import { OperatorError } from './foundation/errors.ts';

// The reader of a pipe may close it early, as `head` does: that is not an error and must not end a service.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

try {
  process.exitCode = await runCommand(process.argv.slice(2), process.env);
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`signalpost: ${error.message}\n`);
  process.exitCode = 1;
}
