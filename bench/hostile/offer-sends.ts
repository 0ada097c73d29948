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

/** Sends as an account's own systems do. @returns latencies of every send, refused ones too, from when it was due */
export async function offerSends(offer: Offer) {
  const client = new HttpClient(offer.port, { maxSockets: 128, timeoutMs: 10_000 });
  const path = `/ete/v1/email/${offer.accountId}/t-0001`;
  const headers = {
    authorization: `Bearer ${offer.apiKey}`,
    'content-type': 'application/json',
  };
  /** 0 counts connections that were closed, or silent for too long. */
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
