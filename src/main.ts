import { runCommand } from './command/run-command.ts';
import { OperatorError } from './foundation/errors.ts';

try {
  process.exitCode = await runCommand(process.argv.slice(2), process.env);
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`signalpost: ${error.message}\n`);
  process.exitCode = 1;
}
