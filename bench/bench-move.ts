import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { openDatabase } from '../src/base/database/open-database.ts';
import { createLog } from '../src/base/values/log.ts';
import {
  type MoveTable,
  nameOfKey,
  readMoveCatalog,
} from '../src/operating/move/move-catalog-store.ts';
import { type MoveProgress, moveInstallation } from '../src/operating/move/move-installation.ts';
import { openMoveSession } from '../src/operating/move/move-session-store.ts';
import { endMove } from '../src/operating/move/move-source-store.ts';
import { columnList } from '../src/operating/move/moved-columns-sql.ts';
import { type BenchDatabase, countRows, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { type History, historyFolder, openHistory } from './history/open-history.ts';

const defaultMessages = 1_000_000;
const partBytes = 64 * 1_024 * 1_024;

/**
 * Moves a history from one embedded database to another, from the check of the target to its opening. The ceiling is `COPY` of
 * the same tables into tables without indexes, without parts, comparison or renumbered transactions.
 */
export async function benchMove({
  history = defaultMessages,
  historyFolder: folder = historyFolder(history),
}: BenchOptions): Promise<BenchResult[]> {
  await using source = await openHistory(history, createLog('error'), folder);
  const plain = await timeCopies(source);
  const times = await timeMove(source);
  const messages = await countRows(source.database, 'message');
  const params = { messages, rows: times.rows, gb: plain.gb, ...times.seconds };
  const rate = messages / times.seconds.seconds;
  return [makeResult('move', params, { rate, ceiling: messages / plain.seconds })];
}

/** Seconds since a time of `performance.now()`, to a tenth. */
const secondsSince = (started: number): number =>
  Math.round((performance.now() - started) / 100) / 10;

async function timeMove(source: History) {
  await using target = await startBenchDatabase();
  const steps = new Map<MoveProgress['step'], number>();
  const report = ({ step }: MoveProgress): void => {
    if (!steps.has(step)) steps.set(step, performance.now());
  };
  const started = performance.now();
  try {
    const { rows } = await moveInstallation({
      source: { database: source.database, name: 'source' },
      target: { database: target.database, name: 'target' },
      log: createLog('error'),
      sourceIsLocked: true,
      partBytes,
      record: () => Promise.resolve(),
      report,
    });
    const [copy, index, verify] = (['copy', 'index', 'verify'] as const).map(
      (step) => steps.get(step) ?? started,
    );
    const seconds = {
      seconds: secondsSince(started),
      copy_seconds: Math.round(((index ?? 0) - (copy ?? 0)) / 100) / 10,
      index_seconds: Math.round(((verify ?? 0) - (index ?? 0)) / 100) / 10,
      compare_seconds: secondsSince(verify ?? 0),
    };
    return { rows, seconds };
  } finally {
    // The history is kept for the next run.
    await endMove(source.database, () => Promise.resolve());
  }
}

async function timeCopies(source: BenchDatabase): Promise<{ seconds: number; gb: number }> {
  await using target = await startBenchDatabase();
  const database = openDatabase({ url: target.url }, { maxConnections: 1 });
  const [reader, writer] = [
    await openMoveSession(source.database.settings),
    await openMoveSession(database.settings),
  ];
  try {
    const { tables } = await readMoveCatalog(reader);
    const { schema } = await readMoveCatalog(writer);
    for (const [index, { root }] of tables.entries())
      await writer.query(`create table plain_${index} (like ${nameOfKey(root, schema)})`);
    const started = performance.now();
    for (const [index, table] of tables.entries())
      await copyPlainly(reader, writer, table, `plain_${index}`);
    const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
    return { seconds: secondsSince(started), gb: Math.round(bytes / 1e7) / 100 };
  } finally {
    await reader.end();
    await writer.end();
    await database.close();
  }
}

async function copyPlainly(
  reader: pg.Client,
  writer: pg.Client,
  { sql, columns }: MoveTable,
  target: string,
): Promise<void> {
  const list = columnList(columns);
  await pipeline(
    reader.query(to(`copy ${sql} (${list}) to stdout (format binary)`)),
    writer.query(from(`copy ${target} (${list}) from stdin (format binary)`)),
  );
}
