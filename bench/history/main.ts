import { Command, InvalidArgumentError } from 'commander';
import { createLog } from '../../src/base/values/log.ts';
import { historyFolder, openHistory } from './open-history.ts';

const program = new Command('npm run bench:history --')
  .description('Fills a data folder for --history-folder, unless it is filled already.')
  .option('--messages <n>', 'finished messages', readCount, 10_000_000)
  .option('--folder <dir>', 'the data folder')
  .parse();
const { messages, folder = historyFolder(messages) } = program.opts();
const started = performance.now();
await using history = await openHistory(messages, createLog('info'), folder);
const { rows } = await history.database.pool.query(
  'select pg_size_pretty(pg_database_size(current_database())) as size',
);
const seconds = Math.round((performance.now() - started) / 1_000);
process.stdout.write(`${messages} messages, ${rows[0].size}, in ${folder} (${seconds} s)\n`);

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100_000_000)
    throw new InvalidArgumentError('It must be a number from 1 to 100000000.');
  return count;
}
