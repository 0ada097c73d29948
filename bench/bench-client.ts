import { Signalpost } from '../packages/client/src/index.ts';
import { addKey } from '../test/support/api-key.ts';
import { distinctValues, openBench } from './bench-account.ts';
import { countRows } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';

const inFlight = 64;
const template = 't-0001';

/** Sends with `signalpost-client`, alternating with bare `fetch` calls of the same requests. */
export async function benchClient(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await openBench({ ...options, processes: 1 });
  const { id } = bench.shop;
  const url = `http://127.0.0.1:${bench.service.port}`;
  const key = await addKey(bench.database, id, { scopes: ['messages:send'] });
  const signalpost = new Signalpost({ url, key });
  const path = `${url}/ete/v1/email/${id}/${template}`;

  const byClient = async (number: number) => {
    await signalpost.send(template, messageOf(number));
  };
  const byFetch = async (number: number) => {
    const { to, data, externalId, trackOpens, trackClicks } = messageOf(number);
    const response = await fetch(path, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({
        envelope: { toAddress: to },
        content: { personalizationDataMap: data },
        metadata: { externalId },
        actions: { trackOpens, trackClicks },
      }),
    });
    if (response.status !== 200) throw new Error(`answered ${response.status}`);
    await response.json();
  };

  const sides = [byClient, byFetch].map((send) => ({ send, sent: 0, seconds: 0 }));
  let total = 0;
  for (let round = -1; round < rounds; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const started = performance.now();
      const sent = await sendAll(side.send, total, started + seconds * 1_000);
      total += sent;
      // The first round is a warm-up.
      if (round < 0) continue;
      side.sent += sent;
      side.seconds += (performance.now() - started) / 1_000;
    }
  const stored = await countRows(bench.database, 'message');
  if (stored !== total) throw new Error(`${total} sent, ${stored} stored`);
  const [rate, ceiling] = sides.map((side) => side.sent / side.seconds);
  return [makeResult('client', { inFlight, fields: 10, seconds, rounds }, { rate, ceiling })];
}

function messageOf(number: number) {
  return {
    to: `reader${number}@example.test`,
    data: distinctValues(number),
    externalId: `order-${number}`,
    trackOpens: true,
    trackClicks: true,
  };
}

/** @param until monotonic time. @returns how many were sent */
async function sendAll(
  send: (number: number) => Promise<void>,
  from: number,
  until: number,
): Promise<number> {
  let next = from;
  const work = async () => {
    while (performance.now() < until) {
      next += 1;
      await send(next);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return next - from;
}
