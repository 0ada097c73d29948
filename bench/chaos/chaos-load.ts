import { setTimeout as delay } from 'node:timers/promises';
import { distinctBody } from '../bench-account.ts';
import type { ChaosNode } from './chaos-node.ts';

export interface ChaosLoad {
  /** Messages that were answered with 200, by id, with their recipients: To first. */
  readonly accepted: Map<string, readonly string[]>;
  /** To of each request that was answered with an error: nothing was accepted. */
  readonly refused: Set<string>;
  /** Requests that got no answer: nothing is known. */
  readonly unanswered: () => number;
  stop(): Promise<void>;
}

/** Every so many messages have two Cc recipients. */
const withCc = 4;

/** Sends messages at a steady rate to whichever node answers, and remembers each 200. */
export function startChaosLoad(
  nodes: readonly ChaosNode[],
  path: string,
  token: string,
  perSecond: number,
): ChaosLoad {
  const accepted = new Map<string, readonly string[]>();
  const open = new Set<Promise<void>>();
  const refused = new Set<string>();
  let unanswered = 0;
  let running = true;
  const send = async (number: number): Promise<void> => {
    const urls = nodes.flatMap((node) => (node.url === undefined ? [] : [node.url]));
    const url = urls[number % Math.max(urls.length, 1)];
    if (url === undefined) {
      unanswered += 1;
      return;
    }
    const recipients = recipientsOf(number);
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: bodyOf(number, recipients.slice(1)),
        signal: AbortSignal.timeout(60_000),
      });
      const answer = (await response.json()) as { messageId?: string };
      if (response.status === 200 && answer.messageId !== undefined)
        accepted.set(answer.messageId, recipients);
      else refused.add(recipients[0] ?? '');
    } catch {
      unanswered += 1;
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
    refused,
    unanswered: () => unanswered,
    async stop() {
      running = false;
      await loop;
      await Promise.all(open);
    },
  };
}

/** The number of a recipient within its message: 0 is To. */
export function recipientNumber(address: string): number {
  return Number(/^copy(\d)-/.exec(address)?.[1] ?? 0);
}

function recipientsOf(number: number): string[] {
  const cc = number % withCc === 0 ? [1, 2].map((copy) => `copy${copy}-${number}`) : [];
  return [`reader${number}`, ...cc].map((name) => `${name}@example.test`);
}

function bodyOf(number: number, cc: readonly string[]): string {
  const body = JSON.parse(distinctBody(number)) as { envelope: Record<string, unknown> };
  if (cc.length > 0) body.envelope.ccAddressList = cc;
  return JSON.stringify(body);
}
