import { randomUUID } from 'node:crypto';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import { createLog } from '../../src/base/values/log.ts';
import { routeTable } from '../../src/operating/management/route-table.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { signedInManager } from '../../test/support/signed-in-manager.ts';
import { type BenchOptions, type BenchResult, makeResult, percentiles } from '../bench-result.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { type History, openHistory } from '../history/open-history.ts';
import { type ReadingCase, reportCases, searchCases } from './reading-cases.ts';

/** Max milliseconds of a response. */
export const readingLimits = { reports: 100, search: 50, lists: 100 } as const;
const minPages = 20;

/** Reports of the largest account, one request at a time. */
export function benchReports(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, 'reports', async (_service, { shop, plan }) =>
    reportCases(shop.id, plan.until),
  );
}

/** Pages of the message log by each filter, the newest and some far back. */
export function benchSearch(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, 'search', (_service, { shop, plan, database }) =>
    searchCases(database, shop.id, plan.until),
  );
}

/** Every list of the management API, page after page. */
export function benchLists(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, 'lists', async (service, { plan, shop, database }, closing) => {
    const { kysely } = database;
    await saveMembership(kysely, { accountId: shop.id, personId: shop.owner.id, role: 'owner' });
    await setOperator(kysely, shop.owner.id, true);
    closing.defer(() => setOperator(kysely, shop.owner.id, false));
    const manager = await signedInManager(service, shop.owner.email);
    const account = `/accounts/${shop.id}`;
    const listId = `bench-${randomUUID()}`;
    await manager.put(`${account}/lists/${listId}`, { name: 'Bench' });
    closing.defer(async () => void (await manager.delete(`${account}/lists/${listId}`)));
    const { body } = await manager.post(`${account}/webhooks`, {
      url: 'https://hooks.example.com/',
      kinds: ['delivered'],
    });
    closing.defer(async () => void (await manager.delete(`${account}/webhooks/${body.id}`)));
    return listCases({
      accountId: shop.id,
      templateId: plan.templateIds[0] ?? '',
      clientId: plan.clientId,
      listId,
      webhookId: String(body.id),
    });
  });
}

/** Every operation that returns items, except the inbox, which is off, and lists of one address, which are empty. */
function listCases(values: Readonly<Record<string, string>>): ReadingCase[] {
  return routeTable
    .filter(({ method, path, operation }) => {
      const { properties = {} } = (operation.answer ?? {}) as { readonly properties?: object };
      const included = !path.includes('/inbox/') && !path.includes(':address');
      return method === 'GET' && 'items' in properties && included;
    })
    .map(({ path: name }) => {
      const path = name.replaceAll(/:(\w+)/g, (_all, part: string) => values[part] ?? '');
      return { name, path, query: {} };
    });
}

/** Measures cases on an installation with a history, which is created unless it exists. */
async function onHistory(
  options: BenchOptions,
  name: keyof typeof readingLimits,
  prepare: (...all: [BenchService, History, AsyncDisposableStack]) => Promise<ReadingCase[]>,
): Promise<BenchResult[]> {
  const { history: messages = 1_000_000, historyFolder } = options;
  await using history = await openHistory(messages, createLog('error'), historyFolder);
  await using service = await startBenchService(history, { ...options, processes: 1 });
  await using closing = new AsyncDisposableStack();
  const cases = await prepare(service, history, closing);
  const cookie = await signIn(service, history.shop.owner.email);
  const what = { name, limitMs: readingLimits[name], history: messages };
  return await measureReading(what, service, cookie, cases, options);
}

/** A row for each case. The ceiling is what the limit allows: a ratio of 1 or more is within it. */
export async function measureReading(
  what: { readonly name: string; readonly limitMs: number; readonly history: number },
  service: BenchService,
  cookie: string,
  cases: readonly ReadingCase[],
  { seconds }: BenchOptions,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { name, path, query } of cases) {
    const times: number[] = [];
    const end = performance.now() + seconds * 125;
    // The first page counts too: it plans, and reads pages that are then cached for the others.
    for (let page = query; times.length < minPages || performance.now() < end; ) {
      const url = `${service.url}/manage/v1${path}?${new URLSearchParams(page)}`;
      const { durationMs, next } = await readPage(url, cookie);
      times.push(durationMs);
      page = next === undefined || times.length >= minPages ? query : { ...query, cursor: next };
      if (times.length >= 10 && performance.now() > end + 10_000) break;
    }
    const latencies = percentiles(times);
    const params = { history: what.history, case: name, first_ms: Math.round(times[0] ?? 0) };
    const rates = { rate: 1_000 / latencies.p99_ms, ceiling: 1_000 / what.limitMs };
    results.push(makeResult(what.name, params, { ...rates, ...latencies }));
  }
  return results;
}

async function readPage(url: string, cookie: string) {
  const started = performance.now();
  const response = await fetch(url, { headers: { cookie } });
  const text = await response.text();
  const durationMs = performance.now() - started;
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`);
  const { nextCursor } = JSON.parse(text) as { readonly nextCursor?: string | null };
  return { durationMs, next: nextCursor ?? undefined };
}
