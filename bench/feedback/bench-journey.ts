import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { getToken, type Shop } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { wireRequests } from '../bench-account.ts';
import type { BenchProgram } from '../bench-program.ts';
import type { BenchOptions, BenchResult } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { BenchSink } from '../deliver/bench-sink.ts';
import { runLoad } from '../run-load.ts';
import { createAccountReader, measureReading } from './bench-reading.ts';
import { clickTrackingRequest, deliveredMessages, openTrackingRequest } from './reader-requests.ts';
import { reportCases, searchCases } from './reading-cases.ts';
import { startThrowawayHistory } from './throwaway-history.ts';

const templates = 8;
const connections = 32;

/**
 * Messages by the service's own way: accepted over HTTP, delivered to a receiver, half of them opened and a fifth clicked
 * over HTTP. Then reports must count what tables hold, and reports and search are measured on it.
 */
export async function benchJourney(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 0);
  using sink = await BenchSink.start();
  const { database, shop } = history;
  await using service = await startBenchService(history.url, {
    nodeOptions: options.nodeOptions,
    roles: 'http,worker',
    smtpUrl: `smtp://127.0.0.1:${sink.port}?tls=off&connections=20&messages=100000`,
  });
  const token = await getToken(service, shop);
  const started = performance.now();
  const accepted = await acceptMessages(service, shop, token, options.messages);
  while (await anyRow(database, 'select from queue_entry limit 1')) await delay(100);
  const deliveredAt = performance.now();
  const engaged = await engage(service, database, shop, accepted);
  while ((await openedAndClicked(database)) < engaged) await delay(100);
  const ended = performance.now();
  await compareTotals(database, shop.id);
  const cookie = await signIn(service, shop.owner.email);
  const reading = createAccountReader(service, cookie, shop.id);
  const now = Date.now();
  const line = { history: accepted };
  return [
    {
      name: 'journey',
      params: { messages: accepted, engagements: engaged },
      rate: Math.round((accepted * 1_000) / (deliveredAt - started)),
      ceiling: Math.round((engaged * 1_000) / (ended - deliveredAt)),
      ratio: 1,
      p50_ms: 0,
      p99_ms: 0,
    },
    ...(await measureReading(
      { ...line, name: 'journey-reports', limit: 100 },
      reading,
      reportCases(now),
      options,
    )),
    ...(await measureReading(
      { ...line, name: 'journey-search', limit: 50 },
      reading,
      await searchCases(database, shop.id, now, 0),
      options,
    )),
  ];
}

async function acceptMessages(
  { port }: BenchProgram,
  shop: Shop,
  token: string,
  wanted: number,
): Promise<number> {
  const requests = Array.from({ length: templates }, (_, index) =>
    wireRequests({
      path: '/ete/v1/email',
      accountIds: [shop.id],
      templateId: `history-${String(index + 1).padStart(2, '0')}`,
      tag: `tag-${index % 3}`,
      token,
      count: 500,
    }),
  ).flat();
  let accepted = 0;
  while (accepted < wanted) {
    const report = await runLoad({ port, connections, seconds: 5, requests });
    const refused = Object.keys(report.statuses).filter((status) => status !== '200');
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(report.statuses)}`);
    accepted += report.answered;
  }
  return accepted;
}

/** @returns how many requests were answered */
async function engage(
  { port }: BenchProgram,
  database: Database,
  shop: Shop,
  messages: number,
): Promise<number> {
  const rows = await deliveredMessages(database, shop.id, messages);
  const requests = [
    ...rows.filter((_, index) => index % 2 === 0).map((row) => openTrackingRequest(shop.id, row)),
    ...rows.filter((_, index) => index % 5 === 0).map((row) => clickTrackingRequest(shop.id, row)),
  ];
  let answered = 0;
  // Orders stay of a size that a process reads at once.
  for (let from = 0; from < requests.length; from += 20_000) {
    const part = requests.slice(from, from + 20_000);
    const seconds = Math.max(1, part.length / 4_000);
    const order = { port, connections, seconds, requests: part };
    answered += (await runLoad({ ...order, rate: 4_000 })).answered;
  }
  return answered;
}

async function openedAndClicked({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select coalesce(sum(opened_people + opened_machines + clicked_people + clicked_machines), 0)::int as count
     from report_sum where span = 'day' and sum_of = 'all'`,
  );
  return rows[0]?.count ?? 0;
}

/** @throws where the report does not count what the tables hold */
async function compareTotals({ pool }: Database, accountId: string): Promise<void> {
  const { rows } = await pool.query(
    `select (select sum(accepted)::int from report_total where account_id = $1) as reported,
       (select count(*)::int from message where account_id = $1) as accepted,
       (select sum(delivered)::int from report_total where account_id = $1) as delivered,
       (select count(*)::int from message_event where account_id = $1 and kind = 'delivered') as events,
       (select count(*)::int from message_search where account_id = $1 and state = 'delivered') as found`,
    [accountId],
  );
  const [{ reported, accepted, delivered, events, found }] = rows;
  if (reported !== accepted || delivered !== events || found < events)
    throw new Error(`reports are wrong: ${JSON.stringify(rows[0])}`);
}

async function anyRow({ pool }: Database, text: string): Promise<boolean> {
  const { rows } = await pool.query(text);
  return rows.length > 0;
}
