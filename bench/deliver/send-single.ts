import { setTimeout as delay } from 'node:timers/promises';
import { getToken, type Shop } from '../../test/support/shop.ts';
import { distinctValues } from '../bench-account.ts';
import { type BenchResult, makeResult, percentiles } from '../bench-result.ts';
import type { BenchService } from '../bench-service.ts';
import { openClient } from '../http-client.ts';
import { type BenchSink, monotonicNow } from './bench-sink.ts';

/**
 * Sends letters one at a time.
 * @param warmUp the first ones load code and the account, and open connections
 * @returns the times from before each request to the final dot at the sink
 */
export async function sendSingles(
  node: BenchService,
  sink: BenchSink,
  shop: Shop,
  { count = 0, warmUp = 0, pauseMs = 0, seconds = Number.POSITIVE_INFINITY },
): Promise<number[]> {
  const ask = openClient(node.port);
  const headers = {
    authorization: `Bearer ${await getToken(node, shop)}`,
    'content-type': 'application/json',
  };
  const path = `/ete/v1/email/${shop.id}/t-0001`;
  const times: number[] = [];
  const until = monotonicNow() + seconds * 1_000;
  for (let number = 0; number < warmUp + count && monotonicNow() < until; number += 1) {
    const toAddress = `single-${shop.id}-${number}@example.test`;
    const body = JSON.stringify({
      envelope: { toAddress },
      content: { personalizationDataMap: distinctValues(1, 'letter') },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    });
    const started = monotonicNow();
    const arrived = sink.waitForSingle(toAddress);
    const { status } = await ask({ path, headers, body });
    if (status !== 200) throw new Error(`a single message got ${status}`);
    const time = (await arrived) - started;
    if (number >= warmUp) times.push(time);
    await delay(pauseMs);
  }
  return times;
}

const idleMessages = 200;
const targetMs = 15;

/** Single messages on an idle service. */
export async function measureIdle(
  node: BenchService,
  sink: BenchSink,
  shop: Shop,
): Promise<BenchResult> {
  const plan = { count: idleMessages, warmUp: 50, pauseMs: 20 };
  const { p50_ms, p99_ms } = percentiles(await sendSingles(node, sink, shop, plan));
  const params = { messages: idleMessages, target_ms: targetMs };
  const rates = { rate: 1_000 / p50_ms, ceiling: 1_000 / targetMs };
  return makeResult('deliver-idle', params, { ...rates, p50_ms, p99_ms });
}
