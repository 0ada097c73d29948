import { setTimeout as delay } from 'node:timers/promises';
import { getToken, type Shop } from '../../test/support/shop.ts';
import type { BenchProgram } from '../bench-program.ts';
import type { BenchResult } from '../bench-result.ts';
import { median, percentile } from '../median.ts';
import { type BenchSink, monotonicNow } from './bench-sink.ts';
import { sendSingle } from './send-single.ts';

const warmUp = 50;
const measured = 200;
/** Between two messages, so that each meets a service that is at rest. */
const restMs = 20;

/**
 * Single messages on an idle service: from before the request to the final dot at the receiver, which answers at once.
 */
export async function measureIdle(
  node: BenchProgram,
  sink: BenchSink,
  shop: Shop,
): Promise<BenchResult> {
  const token = await getToken(node, shop);
  const times: number[] = [];
  for (let number = 0; number < warmUp + measured; number += 1) {
    const address = `single-idle-${number}@example.test`;
    const started = monotonicNow();
    const arrived = sink.waitForSingle(address);
    await sendSingle(node.url, shop.id, token, address);
    const time = (await arrived) - started;
    // The first ones load code and open connections.
    if (number >= warmUp) times.push(time);
    await delay(restMs);
  }
  const p50 = median(times);
  return {
    name: 'deliver-idle',
    params: { messages: measured, target_ms: 15 },
    rate: Math.round(1_000 / p50),
    ceiling: Math.round(1_000 / 15),
    ratio: 15 / p50,
    p50_ms: p50,
    p99_ms: percentile(times, 0.99),
  };
}
