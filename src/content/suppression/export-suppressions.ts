import type { Database } from '../../base/database/open-database.ts';
import { csvLine } from '../../base/values/csv-line.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Suppression } from './suppression.ts';
import { findSuppressions, type SuppressionPosition } from './suppression-store.ts';

/** Must match the columns that the import reads. */
const columns = ['address', 'reason', 'message_id', 'created_at', 'expires_at'] as const;

/** An account's suppressions as CSV, read page by page to limit memory. */
export async function* exportSuppressions(
  database: Pick<Database, 'kysely'>,
  accountId: AccountId,
): AsyncGenerator<string> {
  yield csvLine(columns);
  let after: SuppressionPosition | undefined;
  for (;;) {
    const page = await findSuppressions(database.kysely, accountId, { after, limit: 2_000 });
    if (page.length === 0) return;
    yield page.map(lineOf).join('');
    after = page.at(-1);
  }
}

function lineOf(entry: Suppression): string {
  const { address, reason, messageId, createdAt, expiresAt } = entry;
  return csvLine([
    address,
    reason,
    messageId ?? '',
    createdAt.toISOString(),
    expiresAt?.toISOString() ?? '',
  ]);
}
