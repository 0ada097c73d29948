import type { Account } from '../../accounts/account/account.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Limiter } from '../../base/fairness/limiter.ts';
import { Fault, type FaultCode } from '../../base/values/errors.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { rememberAnswered } from '../../sending/submission/idempotency-key-store.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';
import type { OpenSource } from '../source/outbox-source-store.ts';
import {
  maxPageRows,
  type OutboxRow,
  type OutboxTable,
  type RowAnswer,
} from './outbox-table-store.ts';
import { answerOf, bodyOfRow, keyOfRow, showFailure } from './row-request.ts';

export interface ReadPageDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly submission: Pick<Submission, 'sendRow'>;
  /** Bounds the rows of all sources that wait for a commit. */
  readonly pages: Limiter;
  /** Counts rows by their outcome. */
  readonly count: (outcome: RowAnswer['status'], rows: number) => void;
}

/** Errors that pass without a change of the row: it keeps waiting, and so do those after it. */
const passing: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'ACCOUNT_SUSPENDED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IO_EXCEPTION',
  'QUOTA_EXCEEDED',
]);

/**
 * Sends a page of rows, and writes the answers into the table. Neither side has an open transaction meanwhile. A process that ends
 * before the answers are written leaves rows that are read again, and their keys give them the answers of the same messages.
 * @param ids only of these rows
 * @returns the rows, how many answers were written, and the rows that failed
 * @throws Fault that passes, once the answers of the other rows are written
 * @throws Error of the source
 */
export async function readPage(
  { database, submission, pages, count }: ReadPageDependencies,
  account: Account,
  source: OpenSource,
  table: OutboxTable,
  ids?: readonly string[],
) {
  const rows = await table.readWaiting(maxPageRows, ids);
  const sendRow = async (row: OutboxRow): Promise<RowAnswer> => {
    try {
      const message = { source: source.id, templateId: row.template ?? '', sentAs: row.message_id };
      const key = keyOfRow(source.incarnation, row);
      const body = bodyOfRow(row, Date.now());
      return answerOf(row, await submission.sendRow(account, { ...message, key, body }));
    } catch (error) {
      const fault = toFault(error);
      if (passing.has(fault.code)) throw fault;
      return answerOf(row, fault);
    }
  };
  const sending = () => forEach(rows, sendRow, maxPageRows);
  const outcomes = await pages.run(account.id, sending, { patient: true });
  const answers = outcomes.filter((outcome): outcome is RowAnswer => !(outcome instanceof Fault));
  const fault = outcomes.find((outcome) => outcome instanceof Fault);
  const failed = answers.filter(({ status }) => status === 'failed');
  const answered = answers.length === 0 ? 0 : await table.answer(answers);
  const accepted = answers.length - failed.length;
  count('accepted', accepted);
  count('failed', failed.length);
  if (answered === answers.length && accepted > 0) {
    const keys = rows.map((row) => keyOfRow(source.incarnation, row).text);
    await rememberAnswered(database.kysely, account.id, keys).catch(throwFault);
  }
  if (fault !== undefined) throw fault;
  return { rows, answered, failed: failed.map(showFailure) };
}

/** So that nothing about the service's own database is shown as the source's failure. */
export function throwFault(error: unknown): never {
  throw toFault(error);
}
