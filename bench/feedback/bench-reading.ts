import { createLog } from '../../src/foundation/log.ts';
import type { Shop } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import type { BenchDatabase } from '../bench-database.ts';
import type { BenchProgram } from '../bench-program.ts';
import type { BenchOptions, BenchResult } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { openHistory } from '../history/open-history.ts';
import { percentile } from '../median.ts';
import { type ReadingCase, reportCases, searchCases } from './reading-cases.ts';

/** Milliseconds that a report and a page of messages may take. */
const reportLimit = 100;
const searchLimit = 50;
const defaultHistory = 1_000_000;
const pagesBack = 20;

/** Reports of the account with the most messages, one request after the other over HTTP. */
export function benchReports(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, (service, token, { shop, plan }) =>
    measureReading(
      { name: 'reports', limit: reportLimit, history: plan.messages },
      createAccountReader(service, token, shop.id),
      reportCases(plan.until),
      options,
    ),
  );
}

/** Pages of the log of messages, first ones and ones far back, by what messages are looked for by. */
export function benchSearch(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, async (service, token, { shop, plan, database }) =>
    measureReading(
      { name: 'search', limit: searchLimit, history: plan.messages },
      createAccountReader(service, token, shop.id),
      await searchCases(database, shop.id, plan.until),
      options,
    ),
  );
}

type OpenedHistory = Awaited<ReturnType<typeof openHistory>>;

/** Runs a measurement on an installation with a history, filled where it is not there yet. */
export async function onHistory(
  options: BenchOptions,
  measure: (service: BenchProgram, token: string, history: OpenedHistory) => Promise<BenchResult[]>,
): Promise<BenchResult[]> {
  const { history: messages = defaultHistory, historyFolder } = options;
  await using history = await openHistory(messages, createLog('error'), historyFolder);
  return await withService(options, history, (service, token) => measure(service, token, history));
}

async function withService<Result>(
  options: BenchOptions,
  { url, shop }: BenchDatabase & { readonly shop: Shop },
  run: (service: BenchProgram, cookie: string) => Promise<Result>,
): Promise<Result> {
  await using service = await startBenchService(url, {
    nodeOptions: options.nodeOptions,
    processes: 1,
  });
  return await run(service, await signIn(service, shop.owner.email));
}

type AccountReader = (
  path: string,
  query: Readonly<Record<string, string>>,
) => Promise<{ readonly durationMs: number; readonly next: string | undefined }>;

/** Asks the management API about an account. */
export function createAccountReader(
  { port }: BenchProgram,
  cookie: string,
  accountId: string,
): AccountReader {
  return async (path, query) => {
    const url = new URL(`http://127.0.0.1:${port}/manage/v1/accounts/${accountId}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const started = performance.now();
    const answer = await fetch(url, { headers: { cookie } });
    const text = await answer.text();
    const durationMs = performance.now() - started;
    if (answer.status !== 200) throw new Error(`${url.pathname}: ${answer.status} ${text}`);
    const { nextCursor } = JSON.parse(text) as { nextCursor?: string | null };
    return { durationMs, next: nextCursor ?? undefined };
  };
}

/** One line for each case. The ceiling is what the limit allows, so a ratio of 1 and more holds it. */
export async function measureReading(
  what: { readonly name: string; readonly limit: number; readonly history: number },
  readPage: AccountReader,
  cases: readonly ReadingCase[],
  { seconds }: Pick<BenchOptions, 'seconds'>,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { name, path, query } of cases) {
    const times: number[] = [];
    const end = performance.now() + seconds * 125;
    // The first one plans and reads what the others find in memory; it counts.
    for (let page = query; times.length < pagesBack || performance.now() < end; ) {
      const { durationMs, next } = await readPage(path, page);
      times.push(durationMs);
      page = next === undefined || times.length >= pagesBack ? query : { ...query, cursor: next };
      if (times.length >= 10 && performance.now() > end + 10_000) break;
    }
    const p99 = percentile(times, 0.99);
    results.push({
      name: what.name,
      params: { history: what.history, case: name, first_ms: Math.round(times[0] ?? 0) },
      rate: Math.round(1_000 / p99),
      ceiling: 1_000 / what.limit,
      ratio: what.limit / p99,
      p50_ms: percentile(times, 0.5),
      p99_ms: p99,
    });
  }
  return results;
}
