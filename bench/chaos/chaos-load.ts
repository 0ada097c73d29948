import { setTimeout as delay } from 'node:timers/promises';
import { distinctBody } from '../bench-account.ts';
import type { ChaosNode } from './chaos-node.ts';

export interface ChaosLoad {
  /** Ids of messages that were answered with 200. */
  readonly accepted: Set<string>;
  /** Requests that got no answer or another one: nothing is known, or nothing was accepted. */
  readonly refused: () => number;
  stop(): Promise<void>;
}

/** Sends messages at a steady rate to whichever node answers, and remembers each 200. */
export function startChaosLoad(
  nodes: readonly ChaosNode[],
  path: string,
  token: string,
  perSecond: number,
): ChaosLoad {
  const accepted = new Set<string>();
  const open = new Set<Promise<void>>();
  let refused = 0;
  let running = true;
  const send = async (number: number): Promise<void> => {
    const urls = nodes.flatMap((node) => (node.url === undefined ? [] : [node.url]));
    const url = urls[number % Math.max(urls.length, 1)];
    if (url === undefined) return;
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: distinctBody(number),
        signal: AbortSignal.timeout(60_000),
      });
      const answer = (await response.json()) as { messageId?: string };
      if (response.status === 200 && answer.messageId !== undefined) accepted.add(answer.messageId);
      else refused += 1;
    } catch {
      refused += 1;
    }
  };
  const loop = (async () => {
    for (let number = 0; running; number += 1) {
      const sending: Promise<void> = send(number).finally(() => open.delete(sending));
      open.add(sending);
      await delay(1_000 / perSecond);
    }
  })();
  return {
    accepted,
    refused: () => refused,
    async stop() {
      running = false;
      await loop;
      await Promise.all(open);
    },
  };
}
