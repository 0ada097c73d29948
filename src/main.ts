import { runCommand } from './command/run-command.ts';
import { codeOf } from './foundation/database/sqlstate.ts';
import { OperatorError } from './foundation/errors.ts';

// A pipe's reader may close it early, as `head` does. That isn't an error and must not stop the service.
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
