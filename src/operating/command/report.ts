import { OperatorError } from '../../base/values/errors.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import { rebuildReport } from '../../outcomes/report/roll-up-store.ts';
import { fullRetentionDays } from '../../outcomes/retention/retention-store.ts';
import { reclassifyEngagements } from '../../outcomes/tracking/reclassify-store.ts';
import { onInstallation } from './open-running.ts';
import { readAccountId } from './read-account.ts';
import { printResult } from './shell.ts';

const dayMs = 86_400_000;

export const reportCommands = {
  /**
   * `report reclassify ACCOUNT --from DAY`: reclassifies the opens and clicks since a day (UTC) with the programs
   * and networks that this release knows, and recalculates the report for that time, day by day. Rejects days with
   * deleted data, because they would be lost from the report.
   */
  reclassify: onInstallation(
    (
      account: string | undefined,
      options: { readonly account?: string; readonly from: string },
    ) => {
      const accountId = readAccountId(account ?? options.account);
      const from = parseTimestamp(`${options.from}T00:00:00Z`)?.getTime();
      if (!/^\d{4}-\d\d-\d\d$/.test(options.from) || from === undefined)
        throw new OperatorError(`--from must be a day such as 2026-11-22, not "${options.from}".`);
      return async ({ shell, database: { kysely } }) => {
        const days = await fullRetentionDays(kysely, accountId);
        if (days === undefined) throw new OperatorError(`Account ${accountId} not found.`);
        const now = Date.now();
        const earliest = Math.ceil((now - days * dayMs) / dayMs) * dayMs;
        if (from < earliest || from > now)
          throw new OperatorError(
            `--from must be a day from ${new Date(earliest).toISOString().slice(0, 10)}, the first with complete data, to today.`,
          );
        const until = new Date(now + dayMs);
        const changed = await reclassifyEngagements(kysely, accountId, new Date(from), until);
        for (let at = from; at <= now; at += dayMs)
          await rebuildReport(kysely, accountId, new Date(at), new Date(at + dayMs));
        printResult(
          shell,
          `${changed} ${changed === 1 ? 'open or click was' : 'opens and clicks were'} reclassified; the report was recalculated from ${options.from}.`,
          { reclassified: changed, from: options.from },
        );
      };
    },
  ),
};
