import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIntegration } from '../../src/accounts/oauth/integration-store.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { createLog, type Log } from '../../src/base/values/log.ts';
import { dataFolderAt } from '../../src/host/embedded-database/data-folder.ts';
import { isDataFolderLocked } from '../../src/host/embedded-database/service-lock.ts';
import { createReportUpkeep } from '../../src/outcomes/report/report-upkeep.ts';
import type { Shop } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';
import { type BenchDatabase, openBenchFolder, startBenchDatabase } from '../bench-database.ts';
import type { HistoryPlan } from './draft-messages.ts';
import { fillHistory, planHistory } from './fill-history.ts';

export interface History extends BenchDatabase {
  readonly plan: HistoryPlan;
  /** The account with the most messages. */
  readonly shop: Shop;
}

/** Change it with the content of a history: folders of another version are filled again. */
const form = 1;
/** For `vacuum`. */
const statementTimeoutMs = 60 * 60 * 1_000;

interface HistoryInfo {
  readonly form: number;
  readonly plan: HistoryPlan;
  readonly owner: Shop['owner'];
}

/** The default folder of a history. */
export function historyFolder(messages: number): string {
  return join(tmpdir(), `signalpost-history-${messages}`);
}

/** A database with finished messages in a folder that is kept, filled on first use. Benchmarks remove what they add. */
export async function openHistory(
  messages: number,
  log: Log,
  folder = historyFolder(messages),
): Promise<History> {
  const infoFile = join(folder, 'history.json');
  const stored = existsSync(infoFile) ? readFileSync(infoFile, 'utf8') : 'null';
  let info = JSON.parse(stored) as HistoryInfo | null;
  if (info?.form !== form || info.plan.messages !== messages)
    info = await fillFolder(folder, infoFile, messages, log);
  const { plan, owner } = info;
  const opened = await openBenchFolder(folder);
  const { database } = opened;
  await migrate(database);
  await createReportUpkeep({ database, clock: systemClock, log }).run();
  const integration = await readIntegration(database.kysely, plan.clientId as never);
  const [id] = plan.accountIds;
  if (integration === undefined || id === undefined) throw new Error(`no history in ${folder}`);
  return { ...opened, plan, shop: { id, owner, integration } };
}

/** A small history in a temporary folder. */
export async function startThrowawayHistory(messages: number): Promise<History> {
  const opened = await startBenchDatabase();
  try {
    return { ...opened, ...(await fill(opened.database, messages, createLog('error'))) };
  } catch (error) {
    await opened.stop();
    throw error;
  }
}

async function fill(database: Database, messages: number, log: Log) {
  const shop = await openBenchAccount(database);
  const plan = await planHistory(database, shop, messages);
  if (messages > 0) await fillHistory(database, plan, log);
  return { plan, shop };
}

async function fillFolder(folder: string, infoFile: string, messages: number, log: Log) {
  const unfinished = join(folder, 'history.unfinished');
  if (existsSync(infoFile) || existsSync(unfinished)) {
    if (isDataFolderLocked(dataFolderAt(folder))) throw new Error(`${folder} is in use`);
    rmSync(folder, { recursive: true });
  }
  if (existsSync(folder)) throw new Error(`${folder} exists and holds no history`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  writeFileSync(unfinished, '');
  let info: HistoryInfo;
  {
    await using opened = await openBenchFolder(folder, { durable: false, statementTimeoutMs });
    await migrate(opened.database);
    const { plan, shop } = await fill(opened.database, messages, log);
    info = { form, plan, owner: shop.owner };
    writeFileSync(infoFile, JSON.stringify(info));
  }
  rmSync(unfinished);
  return info;
}
