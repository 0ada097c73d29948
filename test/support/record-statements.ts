import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/**
 * Appends every distinct statement that this process sends to PostgreSQL to a file in the folder TEST_STATEMENTS, one JSON
 * string a line, for `scripts/check-statements.ts`.
 */
export function recordStatements(): void {
  const folder = process.env.TEST_STATEMENTS;
  if (folder === undefined || isRecording) return;
  isRecording = true;
  const seen = new Set<string>();
  watchStatements((text, client) => {
    if (client.database?.startsWith('test_') === true) seen.add(text);
  });
  process.once('exit', () => {
    const lines = [...seen].map((text) => `${JSON.stringify(text)}\n`).join('');
    appendFileSync(join(folder, `${process.pid}.jsonl`), lines);
  });
}

let isRecording = false;

/** The statements that this process sends to PostgreSQL while `work` runs. */
export async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const texts: string[] = [];
  const end = watchStatements((text) => texts.push(text));
  try {
    await work();
  } finally {
    end();
  }
  return texts;
}

/** Calls `watch` with every statement that this process sends to PostgreSQL. @returns ends watching */
export function watchStatements(watch: (text: string, client: pg.Client) => void): () => void {
  const prototype = pg.Client.prototype as unknown as {
    query: (this: pg.Client, ...args: unknown[]) => unknown;
  };
  const { query } = prototype;
  prototype.query = function record(...args) {
    const [statement] = args;
    const text =
      typeof statement === 'string' ? statement : (statement as { text?: unknown } | null)?.text;
    if (typeof text === 'string') watch(text, this);
    return query.apply(this, args);
  };
  return () => {
    prototype.query = query;
  };
}
