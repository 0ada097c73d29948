import { after } from 'node:test';
import { type App, createApp, type NodeRole } from '../../src/app.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { Clock } from '../../src/foundation/clock.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { createLog } from '../../src/foundation/log.ts';
import { MasterKey } from '../../src/foundation/master-key.ts';
import { serviceTokens } from './service-tokens.ts';

/** The key of every test installation, so that nodes on one database agree. */
export const testKey = new MasterKey(Buffer.alloc(32, 7));

export interface TestServiceOptions {
  /** The database of the service: a URL of `createTestDatabase`, or of something in between. */
  readonly databaseUrl: string;
  readonly clock?: Clock;
  /** Undefined: all of them. Without `worker` accepted messages stay as they were stored. */
  readonly roles?: readonly NodeRole[];
  /** Settings beside the test's own, as an operator would give them. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface TestService {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  readonly app: App;
  readonly config: Config;
  /** Stops it; done at the end of the file by itself. */
  stop(): Promise<void>;
}

/**
 * The service as `start` runs it, in this process on a free port of the loopback and a migrated database.
 * Several may run on one database: they are nodes of one installation.
 */
export async function startTestService(options: TestServiceOptions): Promise<TestService> {
  const config = readConfig({
    DATABASE_URL: options.databaseUrl,
    PORT: '0',
    DEMO: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...serviceTokens,
    ...options.environment,
  });
  const database = openDatabase({ url: options.databaseUrl });
  const app = createApp({
    config,
    database,
    key: testKey,
    log: createLog(config.logLevel),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.roles === undefined ? {} : { roles: new Set(options.roles) }),
  });
  await app.start();
  const url = await app.http.listen({ host: config.host, port: config.port });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= app.stop().then(() => database.close());
    return stopping;
  };
  after(stop);
  return { url, app, config, stop };
}
