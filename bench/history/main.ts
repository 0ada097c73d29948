import { parseArgs } from 'node:util';
import { createLog } from '../../src/foundation/log.ts';
import { historyFolder, openHistory } from './open-history.ts';

/**
 * `node bench/history/main.ts --messages 10000000 --folder DIR`: fills a data folder with the history of a busy
 * installation, unless it is filled already. The folder is a `DATA_DIR`; benchmarks take it with `--history`.
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000000' },
    folder: { type: 'string' },
  },
});
const messages = Number(values.messages);
if (!Number.isInteger(messages) || messages < 1 || messages > 100_000_000) {
  process.stderr.write('--messages is a number from 1 to 100000000\n');
  process.exit(1);
}
const folder = values.folder ?? historyFolder(messages);
const started = performance.now();
const history = await openHistory(messages, createLog('info'), folder);
const { rows } = await history.database.pool.query(
  'select pg_size_pretty(pg_database_size(current_database())) as size',
);
await history.stop();
const seconds = Math.round((performance.now() - started) / 1_000);
process.stdout.write(`${messages} messages, ${rows[0].size}, in ${folder} (${seconds} s)\n`);
