import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/base/database/open-database.ts';
import { getToken, type Shop } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { distinctBody, wireRequests } from '../bench-account.ts';
import { type BenchOptions, type BenchResult, makeResult } from '../bench-result.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { BenchSink } from '../deliver/bench-sink.ts';
import { waitUntilQueueEmpty } from '../deliver/letter-account.ts';
import { startThrowawayHistory } from '../history/open-history.ts';
import { runLoad } from '../load-generator.ts';
import { LoadTally } from '../tally.ts';
import { measureReading, readingLimits } from './bench-reading.ts';
import {
  clickTrackingRequest,
  countTracked,
  deliveredMessages,
  openTrackingRequest,
} from './bench-tracking.ts';
import { type ReadingCase, reportCases, searchCases } from './reading-cases.ts';

const templates = 8;
const connections = 32;
const engagementsPerSecond = 4_000;
/** So that the load generator reads an order in one go. */
const maxOrder = 20_000;

/** Messages accepted over HTTP, delivered, half opened and a fifth clicked; then reports and search on them. */
export async function benchJourney(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 0);
  using sink = await BenchSink.start();
  const { database, shop } = history;
  await using service = await startBenchService(history, {
    nodeOptions: options.nodeOptions,
    worker: true,
    smtpUrl: sink.smtpUrl(20),
  });
  const started = performance.now();
  const messages = await acceptMessages(service, shop, options.messages);
  await waitUntilQueueEmpty(database);
  const deliveredAt = performance.now();
  const engagements = await engage(service, database, shop, messages);
  while ((await countTracked(database)) < engagements) await delay(100);
  const ended = performance.now();
  await requireRightTotals(database, shop);
  const cookie = await signIn(service, shop.owner.email);
  const now = Date.now();
  const read = (name: 'reports' | 'search', cases: readonly ReadingCase[]) => {
    const what = { name: `journey-${name}`, limitMs: readingLimits[name], history: messages };
    return measureReading(what, service, cookie, cases, options);
  };
  const rates = {
    rate: (messages * 1_000) / (deliveredAt - started),
    ceiling: (engagements * 1_000) / (ended - deliveredAt),
    ratio: 1,
  };
  return [
    makeResult('journey', { messages, engagements }, rates),
    ...(await read('reports', reportCases(shop.id, now))),
    ...(await read('search', await searchCases(database, shop.id, now, 0))),
  ];
}

/** @returns how many were accepted */
async function acceptMessages(service: BenchService, shop: Shop, wanted: number): Promise<number> {
  const token = await getToken(service, shop);
  const requests = Array.from({ length: templates }, (_, index) => {
    const makeBody = (number: number) => distinctBody(number, 0, `tag-${index % 3}`);
    const operation = `history-0${index + 1}`;
    return wireRequests({ token, accountIds: [shop.id], operation, makeBody, count: 500 });
  }).flat();
  const tally = new LoadTally(service, { connections, requests });
  while (tally.totalAnswered < wanted) await tally.run(5);
  return tally.totalAnswered;
}

/** @returns how many requests got a response */
async function engage({ port }: BenchService, database: Database, shop: Shop, messages: number) {
  const delivered = await deliveredMessages(database, shop.id, messages);
  const pending = [
    ...delivered.filter((_, index) => index % 2 === 0).map(openTrackingRequest),
    ...delivered.filter((_, index) => index % 5 === 0).map(clickTrackingRequest),
  ];
  let answered = 0;
  while (pending.length > 0) {
    const requests = pending.splice(0, maxOrder);
    const seconds = Math.max(1, requests.length / engagementsPerSecond);
    const order = { port, connections, seconds, rate: engagementsPerSecond, requests };
    answered += (await runLoad(order)).answered;
  }
  return answered;
}

/** @throws if reports differ from the tables */
async function requireRightTotals({ pool }: Database, shop: Shop): Promise<void> {
  const { rows } = await pool.query(
    `select (select sum(accepted)::int from report_total where account_id = $1) as reported,
       (select count(*)::int from message where account_id = $1) as accepted,
       (select sum(delivered)::int from report_total where account_id = $1) as delivered,
       (select count(*)::int from message_event where account_id = $1 and kind = 'delivered') as events,
       (select count(*)::int from message_search where account_id = $1 and state = 'delivered') as found`,
    [shop.id],
  );
  const [{ reported, accepted, delivered, events, found }] = rows;
  if (reported !== accepted || delivered !== events || found < events)
    throw new Error(`reports are wrong: ${JSON.stringify(rows[0])}`);
}
