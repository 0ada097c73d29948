import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { distinctBody } from '../bench-account.ts';
import { LatencyHistogram } from '../latency-histogram.ts';

export interface Offer {
  readonly port: number;
  readonly accountId: string;
  readonly apiKey: string;
  /** Sends a second, each due at its own time whatever became of earlier ones. */
  readonly rate: number;
  readonly seconds: number;
}

export interface OfferReport {
  /** With 200. */
  readonly answered: number;
  /** From the first send to the last answer. */
  readonly seconds: number;
  /** By status; 0 for a connection that was closed or said nothing for 10 seconds. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of every send, refused ones included, from when it was due. */
  readonly latencies: LatencyHistogram;
}

const sendTimeoutMs = 10_000;

/** Sends as the own systems of an account do, over connections that are kept. */
export async function offerSends(offer: Offer): Promise<OfferReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  const sends: Promise<void>[] = [];
  const start = performance.now();
  const count = offer.rate * offer.seconds;
  while (sends.length < count) {
    const dueAt = start + (sends.length * 1_000) / offer.rate;
    const wait = dueAt - performance.now();
    if (wait > 0) await delay(wait);
    const sent = send(offer, agent, sends.length).then((status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.add(performance.now() - dueAt);
    });
    sends.push(sent);
  }
  await Promise.all(sends);
  agent.destroy();
  const seconds = (performance.now() - start) / 1_000;
  return { answered: statuses['200'] ?? 0, seconds, statuses, latencies };
}

function send({ port, accountId, apiKey }: Offer, agent: Agent, number: number): Promise<number> {
  return new Promise((resolve) => {
    const call = request({
      host: '127.0.0.1',
      port,
      agent,
      method: 'POST',
      path: `/ete/v1/email/${accountId}/t-0001`,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      timeout: sendTimeoutMs,
    });
    call.once('response', (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
      answer.once('error', () => resolve(0));
    });
    call.once('timeout', () => call.destroy());
    call.once('error', () => resolve(0));
    call.end(distinctBody(number));
  });
}
