import { afterAllFiles } from '../../scripts/test-runner/current-file.ts';
import { type ManagedShop, openManagedShop } from './management-client.ts';
import { SendClient } from './send-client.ts';
import { SessionWorld } from './session-world.ts';
import { getToken } from './shop.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import {
  startNode,
  startTestService,
  type TestService,
  type TestSettings,
} from './test-service.ts';

/** A shop in a running service, with clients for its owner and for its messages. */
export interface TestShop extends ManagedShop, Omit<TestDatabase, 'url'> {
  readonly databaseUrl: string;
  readonly service: TestService;
  /** An access token of the owner, which the client sends with. */
  readonly token: string;
  readonly client: SendClient;
}

interface Installation {
  readonly stored: TestDatabase;
  readonly service: TestService;
}

async function openIn({ stored, service }: Installation, accountId?: string): Promise<TestShop> {
  const { url: databaseUrl, ...rest } = stored;
  const managed = await openManagedShop(stored.database, service, accountId);
  const token = await getToken(service, managed.shop);
  const client = new SendClient(service, token, managed.shop.id);
  return { ...managed, ...rest, databaseUrl, service, token, client };
}

/** Starts a service for this file with the account 46100, as `openShop` makes it, whose owner has that role. */
export async function openTestShop(settings: TestSettings = {}): Promise<TestShop> {
  const stored = await createTestDatabase();
  return openIn({ stored, service: await startNode(stored, settings) });
}

/** The services that files of this process share, with and without a worker. */
const shared = new Map<boolean, Promise<Installation>>();

async function startShared(worker: boolean): Promise<Installation> {
  const stored = await createTestDatabase(afterAllFiles);
  const service = await startTestService({ databaseUrl: stored.url, worker }, afterAllFiles);
  return { stored, service };
}

let lastAccount = 50_000;

/** The ID of an account that no other file of this process has. */
export function newAccountId(): string {
  lastAccount += 1;
  return String(lastAccount);
}

/**
 * Opens a shop with an account of its own in a service that files of this process share: accounts don't meet. Files with
 * settings, a clock or faults, and those that look at the whole installation, start their own.
 *
 * @param options without a worker, accepted messages stay queued
 */
export async function openSharedShop(
  options: { readonly worker?: boolean } = {},
): Promise<TestShop> {
  const { worker = true } = options;
  return openIn(await findShared(worker), newAccountId());
}

/** Like `openSessionWorld`, with an account of its own in the service that files of this process share. */
export async function openSharedWorld() {
  const { stored, service } = await findShared(true);
  const world = new SessionWorld(stored.database, newAccountId());
  await world.addAccount();
  return { database: stored.database, service, world };
}

function findShared(worker: boolean): Promise<Installation> {
  const starting = shared.get(worker) ?? startShared(worker);
  shared.set(worker, starting);
  return starting;
}
