import { runCommand } from './command/run-command.ts';
import { codeOf } from './foundation/database/sqlstate.ts';
import { OperatorError } from './foundation/errors.ts';

// Whoever reads what a command prints may stop reading, as `head` does: no fault of ours, and none that ends a service.
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
