import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolderAt } from '../../src/embedded-database/data-folder.ts';
import { isDataFolderLocked } from '../../src/embedded-database/service-lock.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { migrate } from '../../src/foundation/database/migrate.ts';
import type { Log } from '../../src/foundation/log.ts';
import { ReportUpkeep } from '../../src/report/report-upkeep.ts';
import { readIntegration } from '../../src/session/integration-store.ts';
import type { Shop } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';
import { type BenchDatabase, openBenchFolder } from '../bench-database.ts';
import { fillHistory } from './fill-history.ts';
import { openHistoryAccounts } from './history-account.ts';
import { type HistoryPlan, planHistory } from './history-plan.ts';

export interface History extends BenchDatabase {
  readonly plan: HistoryPlan;
  /** The account with the most messages, as `openBenchAccount` makes it. */
  readonly shop: Shop;
}

/** Changes with what a filled history holds: folders of another form are filled anew. */
const form = 1;

/** A vacuum takes all. */
const statementTimeoutMs = 60 * 60 * 1_000;

interface HistoryInfo {
  readonly form: number;
  readonly plan: HistoryPlan;
  readonly owner: Shop['owner'];
}

/** Where a filled history of so many messages is kept unless told otherwise. */
export function historyFolder(messages: number): string {
  return join(tmpdir(), `signalpost-history-${messages}`);
}

/**
 * The embedded database of an installation with so many finished messages of the last 90 days. It is filled where the folder
 * is not filled yet, and stays there for the next time. What a benchmark adds stays, too: it cleans up after itself, or says
 * so.
 */
export async function openHistory(
  messages: number,
  log: Log,
  folder = historyFolder(messages),
): Promise<History> {
  const infoFile = join(folder, 'history.json');
  if (!isFilled(infoFile, messages)) await fillFolder(folder, infoFile, messages, log);
  const { plan, owner } = readHistoryInfo(infoFile);
  const opened = await openBenchFolder(folder);
  await migrate(opened.database);
  await new ReportUpkeep({ database: opened.database, clock: systemClock, log }).run();
  const integration = await readIntegration(opened.database.kysely, plan.clientId as never);
  const [id] = plan.accountIds;
  if (integration === undefined || id === undefined) throw new Error(`${folder} is no history`);
  return { ...opened, plan, shop: { id, owner, integration } };
}

function readHistoryInfo(infoFile: string): HistoryInfo {
  return JSON.parse(readFileSync(infoFile, 'utf8')) as HistoryInfo;
}

function isFilled(infoFile: string, messages: number): boolean {
  if (!existsSync(infoFile)) return false;
  const info = readHistoryInfo(infoFile);
  return info.form === form && info.plan.messages === messages;
}

async function fillFolder(
  folder: string,
  infoFile: string,
  messages: number,
  log: Log,
): Promise<void> {
  const unfinished = join(folder, 'history.unfinished');
  if (existsSync(infoFile) || existsSync(unfinished)) {
    if (isDataFolderLocked(dataFolderAt(folder))) throw new Error(`${folder} is being used`);
    rmSync(folder, { recursive: true });
  }
  if (existsSync(folder)) throw new Error(`${folder} is there and holds no history`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  writeFileSync(unfinished, '');
  const { database, stop } = await openBenchFolder(folder, { durable: false, statementTimeoutMs });
  try {
    await migrate(database);
    const shop = await openBenchAccount(database);
    const plan = planHistory(messages, await openHistoryAccounts(database, shop));
    await fillHistory(database, plan, log);
    writeFileSync(
      infoFile,
      JSON.stringify({ form, plan, owner: shop.owner } satisfies HistoryInfo),
    );
  } finally {
    await stop();
  }
  rmSync(unfinished);
}
