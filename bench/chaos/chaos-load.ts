import { setTimeout as delay } from 'node:timers/promises';
import { SendClient } from '../../test/support/send-client.ts';
import { distinctBody } from '../bench-account.ts';
import type { ChaosNode } from './chaos-node.ts';

/** One of as many messages has two Cc recipients. */
const messagesPerCc = 4;

/** Sends messages at a steady rate to the nodes that are up. */
export class ChaosLoad {
  /** The recipients of each message that was answered with 200, To first, by message id. */
  readonly accepted = new Map<string, readonly string[]>();
  /** To of each request that was answered with an error, which accepts nothing. */
  readonly refused = new Set<string>();
  /** Requests without an answer, which may have been accepted. */
  unanswered = 0;
  readonly #nodes: readonly ChaosNode[];
  readonly #token: string;
  readonly #open = new Set<Promise<void>>();
  readonly #loop: Promise<void>;
  #running = true;

  constructor(nodes: readonly ChaosNode[], token: string, perSecond: number) {
    this.#nodes = nodes;
    this.#token = token;
    this.#loop = this.#run(1_000 / perSecond);
  }

  /** Resolves once every request has ended. */
  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    await Promise.all(this.#open);
  }

  async #run(intervalMs: number): Promise<void> {
    for (let number = 0; this.#running; number += 1) {
      const sending: Promise<void> = this.#send(number).finally(() => this.#open.delete(sending));
      this.#open.add(sending);
      await delay(intervalMs);
    }
  }

  async #send(number: number): Promise<void> {
    const cc = number % messagesPerCc === 0 ? [`copy1-${number}`, `copy2-${number}`] : [];
    const ccAddressList = cc.map((name) => `${name}@example.test`);
    const body = JSON.parse(distinctBody(number));
    const to = body.envelope.toAddress;
    if (cc.length > 0) body.envelope.ccAddressList = ccAddressList;
    const urls = this.#nodes.flatMap(({ url }) => url ?? []);
    try {
      const url = urls[number % urls.length];
      if (url === undefined) throw new Error('no node is up');
      const answer = await new SendClient({ url }, this.#token).send({ body });
      if (answer.status === 200)
        this.accepted.set(String(answer.body.messageId), [to, ...ccAddressList]);
      else this.refused.add(to);
    } catch {
      this.unanswered += 1;
    }
  }
}

/** The position of a recipient in its message: 0 is To. */
export function recipientNumber(address: string): number {
  return Number(/^copy(\d)-/.exec(address)?.[1] ?? 0);
}
