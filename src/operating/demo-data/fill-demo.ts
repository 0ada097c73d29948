import { setTimeout as delay } from 'node:timers/promises';
import { listOperators } from '../../accounts/account/person-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { ensureMessagePartitions } from '../../content/message/message-partitions-store.ts';
import { commandLine, recordChange } from '../change/actor.ts';
import { applyManifest } from '../manifest/apply-manifest.ts';
import { parseManifest } from '../manifest/parse-manifest.ts';
import {
  countProcessed,
  markDemoAccount,
  readDemoAccount,
  removeDemoAccount,
  writeDemoMessages,
} from './demo-data-store.ts';
import { demoManifestTemplates, demoSenders, demoShopName } from './demo-templates.ts';
import { planDemo } from './plan-demo.ts';

/** The account of the demo data. It has nothing else, so it can be removed as a whole. */
export const demoDataAccountId = 'demo' as AccountId;

/** Messages of one transaction, which followers read as one window. */
const batchSize = 2_000;
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;

export interface DemoDataDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates an account with the operators as owners, templates, and a month of finished messages that look real. Nothing of
 * them is queued, and their addresses are reserved names, so nothing is ever sent.
 * @throws OperatorError if the account exists, or there is nobody to own it
 */
export async function fillDemo(
  { database, key, log, now }: DemoDataDependencies,
  count: number,
): Promise<void> {
  const { kysely } = database;
  const existing = await readDemoAccount(kysely, demoDataAccountId);
  if (existing?.demo === true)
    throw new OperatorError(
      'The demo data already exists. To remove it, run signalpost demo clear',
    );
  if (existing !== undefined)
    throw new OperatorError(
      `The account ${demoDataAccountId} isn’t demo data. Demo data needs that ID, so it can’t be added here.`,
    );
  const [owner, ...owners] = await listOperators(kysely);
  if (owner === undefined)
    throw new OperatorError(
      'Demo data belongs to the operators, and there is none yet. Run: signalpost set-up-link',
    );
  await applyManifest(database, key, await demoManifest(owner, owners));
  await kysely.transaction().execute(async (transaction) => {
    await markDemoAccount(transaction, demoDataAccountId);
    const actor = commandLine(demoDataAccountId);
    await recordChange(transaction, actor, 'demo_filled', demoDataAccountId, { messages: count });
  });
  for (let week = now - 30 * dayMs; week < now; week += weekMs)
    await ensureMessagePartitions({ database, log }, new Date(week));
  const { messages, events } = planDemo(count, now);
  const eventsOf = Map.groupBy(events, ({ messageId }) => messageId);
  for (let first = 0; first < messages.length; first += batchSize) {
    const batch = messages.slice(first, first + batchSize);
    await kysely.transaction().execute((transaction) =>
      writeDemoMessages(
        transaction,
        demoDataAccountId,
        batch,
        batch.flatMap(({ id }) => eventsOf.get(id) ?? []),
      ),
    );
  }
}

/**
 * Waits until search and reports show the messages.
 * @returns false if that takes longer, such as while no worker runs
 */
export async function waitForDemo(
  { database }: Pick<DemoDataDependencies, 'database'>,
  count: number,
  timeoutMs: number,
): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  while ((await countProcessed(database.kysely, demoDataAccountId)) < count) {
    if (Date.now() > end) return false;
    await delay(250);
  }
  return true;
}

/**
 * Removes the account of the demo data with everything in it.
 * @throws OperatorError if there is none
 */
export async function clearDemo({
  database,
}: Pick<DemoDataDependencies, 'database'>): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    const existing = await readDemoAccount(transaction, demoDataAccountId);
    if (existing?.demo !== true) throw new OperatorError('There is no demo data to remove.');
    await removeDemoAccount(transaction, demoDataAccountId);
    await recordChange(transaction, commandLine(), 'demo_cleared', demoDataAccountId);
  });
}

async function demoManifest(owner: string, owners: readonly string[]) {
  const account = {
    id: demoDataAccountId,
    name: `${demoShopName} (demo data)`,
    addOns: ['transactional'],
    users: [owner, ...owners].map((email) => ({ email, role: 'owner' })),
    senders: demoSenders.map((sender) => ({ ...sender, verified: true })),
    templates: demoManifestTemplates(owner),
  };
  // JSON is YAML. `$` would begin a reference to the environment.
  const text = JSON.stringify({ accounts: [account] }).replaceAll('${', '$${');
  return parseManifest({ name: 'demo data', text, folder: '/' }, {});
}
