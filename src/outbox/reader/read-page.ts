import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../../accounts/account/account.ts';
import type { Limiter } from '../../base/fairness/limiter.ts';
import { Fault, type FaultCode } from '../../base/values/errors.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';
import type { OpenSource } from '../source/outbox-source-store.ts';
import type { FailedRow } from '../source/source-schemas.ts';
import {
  maxPageRows,
  type OutboxRow,
  type OutboxTable,
  type RowAnswer,
} from './outbox-table-store.ts';
import { bodyOfRow, failedRow, keyOfRow, showFailure } from './row-request.ts';

export interface ReadPageDependencies {
  readonly submission: Pick<Submission, 'sendRow' | 'rememberRows'>;
  /** Bounds the rows of all sources that wait for a commit. */
  readonly pages: Limiter;
  /** Counts rows by their outcome. */
  readonly count: (outcome: RowAnswer['status'], rows: number) => void;
}

/** What a page of rows came to. */
export interface PageResult {
  readonly rows: readonly OutboxRow[];
  /** Rows whose answer was written. */
  readonly answered: number;
  readonly failed: readonly FailedRow[];
}

/** Errors that pass without a change of the row: it keeps waiting, and so do those after it. */
const passing: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'ACCOUNT_SUSPENDED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IO_EXCEPTION',
  'QUOTA_EXCEEDED',
]);

/** Milliseconds of checking rows per event loop turn, unless a single one takes longer. */
const maxTurnMs = 4;

/**
 * Sends a page of rows, and writes the answers into the table. Neither side has an open transaction meanwhile. A process that ends
 * before the answers are written leaves rows that are read again, and their keys give them the answers of the same messages.
 * @param ids only of these rows
 * @throws Fault that passes, once the answers of the other rows are written
 * @throws Error of the source
 */
export async function readPage(
  { submission, pages, count }: ReadPageDependencies,
  account: Account,
  source: OpenSource,
  table: OutboxTable,
  ids?: readonly string[],
): Promise<PageResult> {
  const rows = await table.readWaiting(maxPageRows, ids);
  const outcomes = await pages.run(account.id, () => sendRows(rows), { patient: true });
  const answers = outcomes.filter((outcome): outcome is RowAnswer => !(outcome instanceof Fault));
  const answered = answers.length === 0 ? 0 : await table.answer(answers);
  const accepted = answers.filter(({ status }) => status === 'accepted').length;
  count('accepted', accepted);
  count('failed', answers.length - accepted);
  if (answered === answers.length && accepted > 0)
    await submission
      .rememberRows(
        account.id,
        rows.map((row) => keyOfRow(source.incarnation, row).text),
      )
      .catch(throwFault);
  const fault = outcomes.find((outcome) => outcome instanceof Fault);
  if (fault !== undefined) throw fault;
  const failed = answers.filter(({ status }) => status === 'failed').map(showFailure);
  return { rows, answered, failed };

  async function sendRows(page: readonly OutboxRow[]): Promise<readonly (RowAnswer | Fault)[]> {
    const sending: Promise<RowAnswer | Fault>[] = [];
    let turnEnd = performance.now() + maxTurnMs;
    for (const row of page) {
      if (performance.now() >= turnEnd) {
        await nextTurn();
        turnEnd = performance.now() + maxTurnMs;
      }
      sending.push(sendRow(row));
    }
    return Promise.all(sending);
  }

  /** @returns a Fault that passes */
  async function sendRow(row: OutboxRow): Promise<RowAnswer | Fault> {
    try {
      const { id, version, template, message_id: sentAs } = row;
      const key = keyOfRow(source.incarnation, row);
      const body = bodyOfRow(row, Date.now());
      const message = { source: source.id, templateId: template ?? '', key, sentAs, body };
      const { messageId } = await submission.sendRow(account, message);
      return { id, version, status: 'accepted', message_id: messageId, error: null };
    } catch (error) {
      const fault = toFault(error);
      return passing.has(fault.code) ? fault : failedRow(row, fault);
    }
  }
}

/** So that nothing about the service's own database is shown as the source's failure. */
export function throwFault(error: unknown): never {
  throw toFault(error);
}
