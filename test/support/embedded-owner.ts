import { startEmbeddedDatabase } from '../../src/embedded-database/start-embedded-database.ts';

/**
 * A process that owns an embedded database: `embedded-owner.ts DATA_DIR`. SIGTERM stops it in good order; at SIGUSR2
 * it throws what nobody catches.
 */
const silent = { info: () => undefined, warn: () => undefined };
const [dataDir = ''] = process.argv.slice(2);
try {
  const database = await startEmbeddedDatabase({ dataDir, log: silent, durable: false });
  process.once('SIGTERM', () => void database.stop());
  process.once('SIGUSR2', () => {
    throw new Error('as asked for');
  });
  print({ settings: database.settings, databasePid: database.pid });
} catch (error) {
  print({ problem: error instanceof Error ? error.message : String(error) });
}

function print(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
