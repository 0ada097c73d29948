import { after } from 'node:test';
import { type App, createApp } from '../../src/app.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { MasterKey } from '../../src/base/secrets/master-key.ts';
import { openTracing } from '../../src/base/telemetry/open-tracing.ts';
import { type NodeRole, nodeRoles } from '../../src/base/threads/node-role.ts';
import type { Clock } from '../../src/base/values/clock.ts';
import { createLog } from '../../src/base/values/log.ts';
import { listen } from '../../src/operating/command/listen.ts';
import { type Config, readConfig } from '../../src/operating/config/config.ts';
import { checkAnswers } from './check-answers.ts';
import { serviceTokens } from './service-tokens.ts';
import type { TestDatabase } from './test-database.ts';

const secret = Buffer.alloc(32, 7);
/** The master key of all test installations, so that nodes on one database share it. */
export const testKey = new MasterKey(secret);
const keyName = testKey.fingerprint;

/** Ends a rotation of the key at the end of a file, because other files of the process use the key, too. */
export function restoreTestKey(): void {
  // The newest, so that no other key is accepted.
  testKey.addSecrets([secret]);
  testKey.select(keyName, null);
}

/** MiB for hashing a password, unless a test sets PASSWORD_MEMORY. */
export const testPasswordMemory = 1;

/** What a service without a worker doesn't do. */
const background: readonly NodeRole[] = ['worker', 'outbox'];

export interface TestServiceOptions {
  /** The database of the service: a URL of `createTestDatabase`, or of a proxy before it. */
  readonly databaseUrl: string;
  readonly clock?: Clock;
  /** Default: all roles. */
  readonly roles?: readonly NodeRole[];
  /** Without it, accepted messages stay queued, and outboxes aren't read. Default: true. */
  readonly worker?: boolean;
  /** Additional settings, as an operator would set them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Gets the lines of the log. Default: standard error. */
  readonly logTo?: (line: string) => void;
}

/** A service on a database of its own. */
export interface TestSettings extends Omit<TestServiceOptions, 'databaseUrl' | 'clock'> {
  /** The service uses the clock of its database. Default: false. */
  readonly movesClock?: boolean;
}

export interface TestService {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly app: App;
  readonly config: Config;
  /** Stops the service; happens automatically at the end of the file. */
  stop(): Promise<void>;
}

/**
 * Starts the service in this process, on a free port of the loopback and a migrated database.
 * Several services on one database are nodes of one installation.
 *
 * @param atEnd adds a hook to the end of its use
 */
export async function startTestService(
  options: TestServiceOptions,
  atEnd: (hook: () => Promise<void>) => void = after,
): Promise<TestService> {
  const settings = readConfig({
    DATABASE_URL: options.databaseUrl,
    PORT: '0',
    DEMO: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...serviceTokens,
    ...options.environment,
  });
  const config = {
    ...settings,
    // Less than an operator can choose: signing in isn't what most tests are about.
    ...(options.environment?.PASSWORD_MEMORY === undefined && {
      passwordMemory: testPasswordMemory,
    }),
  };
  const connections = process.env.TEST_CONNECTIONS;
  const limits = connections === undefined ? {} : { maxConnections: Number(connections) };
  const database = openDatabase({ url: options.databaseUrl }, limits);
  const log = createLog(config.logLevel, options.logTo && { write: options.logTo });
  const app = createApp({
    config,
    database,
    key: testKey,
    log,
    tracing: await openTracing(config.tracing, log),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    roles: new Set(
      options.roles ??
        nodeRoles.filter((role) => options.worker !== false || !background.includes(role)),
    ),
  });
  checkAnswers(app.http.server);
  await app.start();
  const url = await listen(app.http, config);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= app.stop().then(() => database.close());
    return stopping;
  };
  atEnd(stop);
  return { url, app, config, stop };
}

/** Starts a node on a test database. */
export function startNode(
  { url, clock }: TestDatabase,
  { movesClock = false, ...options }: TestSettings,
): Promise<TestService> {
  return startTestService({ databaseUrl: url, ...(movesClock && { clock }), ...options });
}
