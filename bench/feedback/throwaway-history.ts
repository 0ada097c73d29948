import { createLog } from '../../src/foundation/log.ts';
import type { Shop } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from '../bench-database.ts';
import { fillHistory } from '../history/fill-history.ts';
import { openHistoryAccounts } from '../history/history-account.ts';
import { planHistory } from '../history/history-plan.ts';

/** A small history on a folder that is thrown away, for benchmarks that add to it. */
export async function startThrowawayHistory(
  messages: number,
): Promise<BenchDatabase & { readonly shop: Shop }> {
  const opened = await startBenchDatabase();
  try {
    const shop = await openBenchAccount(opened.database);
    const accounts = await openHistoryAccounts(opened.database, shop);
    if (messages > 0)
      await fillHistory(opened.database, planHistory(messages, accounts), createLog('error'));
    return { ...opened, shop };
  } catch (error) {
    await opened.stop();
    throw error;
  }
}
