import { setTimeout as delay } from 'node:timers/promises';
import { distinctBody } from '../bench-account.ts';
import { HttpClient } from '../http-client.ts';
import { LatencyHistogram } from '../latency-histogram.ts';

export interface Offer {
  readonly port: number;
  readonly accountId: string;
  readonly apiKey: string;
  /** Sends a second, each due at its own time. */
  readonly rate: number;
  readonly seconds: number;
}

export interface OfferReport {
  /** With 200. */
  readonly answered: number;
  /** Until the last answer. */
  readonly seconds: number;
  /** Status 0 counts connections that were closed, or silent for 10 seconds. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of every send, from when it was due. */
  readonly latencies: LatencyHistogram;
}

/** Sends as an account's own systems do. */
export async function offerSends(offer: Offer): Promise<OfferReport> {
  const client = new HttpClient(offer.port, { maxSockets: 128, timeoutMs: 10_000 });
  const path = `/ete/v1/email/${offer.accountId}/t-0001`;
  const headers = {
    authorization: `Bearer ${offer.apiKey}`,
    'content-type': 'application/json',
  };
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  const sends: Promise<void>[] = [];
  const start = performance.now();
  while (sends.length < offer.rate * offer.seconds) {
    const dueAt = start + (sends.length * 1_000) / offer.rate;
    const wait = dueAt - performance.now();
    if (wait > 0) await delay(wait);
    const sent = client.ask({ path, headers, body: distinctBody(sends.length) });
    sends.push(
      sent.then(({ status }) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        latencies.add(performance.now() - dueAt);
      }),
    );
  }
  await Promise.all(sends);
  client.close();
  const seconds = (performance.now() - start) / 1_000;
  return { answered: statuses['200'] ?? 0, seconds, statuses, latencies };
}
