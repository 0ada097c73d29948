import { startEmbeddedDatabase } from '../../src/host/embedded-database/start-embedded-database.ts';

/**
 * A process that owns an embedded database: `embedded-owner.ts DATA_DIR`. SIGTERM stops it cleanly; SIGUSR2 makes it
 * throw an uncaught exception.
 */
const silent = { info: () => undefined, warn: () => undefined };
const [dataDir = ''] = process.argv.slice(2);
try {
  const database = await startEmbeddedDatabase({ dataDir, log: silent, durable: false });
  process.once('SIGTERM', () => void database.stop());
  process.once('SIGUSR2', () => {
    throw new Error('uncaught on purpose');
  });
  print({ settings: database.settings, databasePid: database.pid });
} catch (error) {
  print({ problem: error instanceof Error ? error.message : String(error) });
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
