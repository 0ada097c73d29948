import { setTimeout as delay } from 'node:timers/promises';
import { distinctBody } from '../bench-account.ts';
import type { ChaosNode } from './chaos-node.ts';

export interface ChaosLoad {
  /** The recipients of each message that was answered with 200, To first, by message id. */
  readonly accepted: Map<string, readonly string[]>;
  /** To of each request that was answered with an error, which accepts nothing. */
  readonly refused: Set<string>;
  /** Requests without an answer, which may have been accepted. */
  unanswered: number;
  stop(): Promise<void>;
}

/** One of as many messages has two Cc recipients. */
const messagesPerCc = 4;

/** Sends messages at a steady rate to the nodes that are up. */
export function startChaosLoad(
  nodes: readonly ChaosNode[],
  path: string,
  token: string,
  perSecond: number,
): ChaosLoad {
  const open = new Set<Promise<void>>();
  let running = true;
  const load: ChaosLoad = {
    accepted: new Map(),
    refused: new Set(),
    unanswered: 0,
    async stop() {
      running = false;
      await looping;
      await Promise.all(open);
    },
  };
  const send = async (number: number): Promise<void> => {
    const urls = nodes.flatMap(({ url }) => url ?? []);
    const recipients = recipientsOf(number);
    const [to = '', ...cc] = recipients;
    try {
      const url = urls[number % urls.length];
      if (url === undefined) throw new Error('no node is up');
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: bodyOf(number, cc),
        signal: AbortSignal.timeout(60_000),
      });
      const { messageId } = (await response.json()) as { readonly messageId?: string };
      if (response.status === 200 && messageId !== undefined)
        load.accepted.set(messageId, recipients);
      else load.refused.add(to);
    } catch {
      load.unanswered += 1;
    }
  };
  const loop = async (): Promise<void> => {
    for (let number = 0; running; number += 1) {
      const sending: Promise<void> = send(number).finally(() => open.delete(sending));
      open.add(sending);
      await delay(1_000 / perSecond);
    }
  };
  const looping = loop();
  return load;
}

/** The position of a recipient in its message: 0 is To. */
export function recipientNumber(address: string): number {
  return Number(/^copy(\d)-/.exec(address)?.[1] ?? 0);
}

function recipientsOf(number: number): string[] {
  const cc = number % messagesPerCc === 0 ? [`copy1-${number}`, `copy2-${number}`] : [];
  return [`reader${number}`, ...cc].map((name) => `${name}@example.test`);
}

function bodyOf(number: number, ccAddressList: readonly string[]): string {
  const body = JSON.parse(distinctBody(number));
  if (ccAddressList.length > 0) body.envelope.ccAddressList = ccAddressList;
  return JSON.stringify(body);
}
