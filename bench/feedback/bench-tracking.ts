import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { TrackingTokens } from '../../src/outcomes/tracking/tracking-tokens.ts';
import { testKey } from '../../test/support/test-service.ts';
import { noOpPath, wireRequest } from '../bench-account.ts';
import { countRows } from '../bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult, percentiles } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { startThrowawayHistory } from '../history/open-history.ts';
import { runLoad } from '../load-generator.ts';
import { compare, LoadTally, takeTurns } from '../tally.ts';

const connections = 64;
/** A message stores 50 clicks on one link, so these are enough for all. */
const distinctLinks = 10_000;
const storedClicks = "message_event where kind = 'clicked'";

/** Followed links, alternating with a GET that redirects without a lookup. */
export async function benchRedirect(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 10_000);
  const { database, shop } = history;
  const messages = await deliveredMessages(database, shop.id, distinctLinks);
  await using service = await startBenchService(history, { ...options, processes: 1 });
  const clicks = messages.map(clickTrackingRequest);
  const noOps = clicks.map((_, index) => browserGet(`${noOpPath}/${'x'.repeat(150)}${index}`));
  const open = (requests: readonly string[]) =>
    new LoadTally(service, { connections, requests }, '302');
  const [ours, nothing] = [open(clicks), open(noOps)];
  const before = await countRows(database, storedClicks);
  await takeTurns([nothing, ours], options);
  await service.stop();
  const written = (await countRows(database, storedClicks)) - before;
  if (written < ours.totalAnswered)
    throw new Error(`${ours.totalAnswered} clicks answered, ${written} written`);
  const line = compare(ours, nothing);
  const params = {
    connections,
    cpu_ms: (line.service_us ?? 0) / 1_000,
    ceiling_cpu_ms: (line.ceiling_us ?? 0) / 1_000,
  };
  return [makeResult('redirect', params, line)];
}

const perSecond = 2_000;
const limitMs = 5_000;

/** How far a report lags behind opens that arrive at a steady rate: the time since as many had arrived as it shows. */
export async function benchRollUp(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 20_000);
  const { database, shop } = history;
  const messages = await deliveredMessages(database, shop.id, 5_000);
  await using service = await startBenchService(history, {
    nodeOptions: options.nodeOptions,
    worker: true,
    smtpUrl: 'smtp://127.0.0.1:9?tls=off',
  });
  const before = await countTracked(database);
  const readings: { readonly at: number; readonly opens: number }[] = [];
  let running = true;
  const loading = runLoad({
    port: service.port,
    connections: 16,
    seconds: Math.max(20, options.seconds * options.rounds),
    rate: perSecond,
    requests: messages.map(openTrackingRequest),
  }).finally(() => {
    running = false;
  });
  while (running) {
    readings.push({ opens: (await countTracked(database)) - before, at: Date.now() });
    await delay(250);
  }
  const { answered, startedAt, seconds } = await loading;
  const rate = answered / seconds;
  const end = startedAt + seconds * 1_000;
  const lags = readings
    .filter(({ at }) => at > startedAt + 5_000 && at < end)
    .map(({ at, opens }) => at - startedAt - (opens * 1_000) / rate);
  const maxLagMs = Math.max(...lags);
  const params = { wanted: perSecond, highest_lag_ms: Math.round(maxLagMs) };
  const rates = { rate, ceiling: perSecond, ratio: limitMs / maxLagMs };
  return [makeResult('rollup', params, { ...rates, ...percentiles(lags) })];
}

/** Opens and clicks of all accounts that reports show. */
export async function countTracked({ pool }: Database): Promise<number> {
  const { rows } = await pool.query(
    `select coalesce(sum(opened_people + opened_machines + clicked_people + clicked_machines), 0)::int as count
     from report_sum where span = 'day' and sum_of = 'all'`,
  );
  return rows[0].count;
}

const tokens = new TrackingTokens(testKey);
const agent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

type DeliveredMessage = Omit<Parameters<TrackingTokens['makeLink']>[0], 'index' | 'values'>;

/** Delivered messages of an account, newest first. */
export async function deliveredMessages(
  { kysely }: Database,
  accountId: AccountId,
  limit: number,
): Promise<DeliveredMessage[]> {
  const rows = await kysely
    .selectFrom('message')
    .select(['id as messageId', 'retention_days as retentionDays'])
    .select(['template_id as templateId', 'template_version as templateVersion'])
    .where('account_id', '=', accountId)
    .where('state', '=', 'delivered')
    .where('template_id', 'like', 'history-%')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, accountId }) as DeliveredMessage);
}

export function openTrackingRequest(message: DeliveredMessage): string {
  return browserGet(openImagePath(message));
}

export function openImagePath(message: Parameters<TrackingTokens['makeOpen']>[0]): string {
  return `/o/${tokens.makeOpen(message)}.gif`;
}

/** Follows the first link of the message, which contains a value. */
export function clickTrackingRequest(message: DeliveredMessage): string {
  const values = [`A-${message.messageId.slice(-6)}`];
  return browserGet(`/c/${tokens.makeLink({ ...message, index: 0, values })}`);
}

/** A GET as a browser sends it. */
function browserGet(path: string): string {
  return wireRequest(`GET ${path}`, { 'User-Agent': agent });
}
