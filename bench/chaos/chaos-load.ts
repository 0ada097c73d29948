import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmailAddress } from '../../src/base/values/email-address.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { distinctBody } from '../bench-account.ts';
import { makeCounts } from './chaos-faults.ts';
import type { ChaosNode } from './chaos-node.ts';
import { fileNameOf } from './rough-sink.ts';
import { retryPause, SteadyClients } from './steady-clients.ts';

const address = (name: string): string => `${name}@example.test`;

/** What must arrive of an accepted message. */
interface Expected {
  /** To, then Cc, then Bcc; a recipient's number is its index. */
  readonly recipients: readonly string[];
  /** Names of its attachments. */
  readonly files: readonly string[];
  /** Unix milliseconds; 0: immediately. */
  readonly sendAt: number;
  readonly canExpire: boolean;
}

/** Templates to send from: `list` has the list `Items`, `archive` belongs to an account with `archiveAddress`. */
export type ChaosTargets = Readonly<
  Record<'plain' | 'list' | 'archive', { readonly path: string; readonly token: string }>
>;

export const archiveAddress = address('copy1-archive') as EmailAddress;

type Result = Readonly<Record<string, unknown>>;
type Body = Record<'envelope' | 'content' | 'metadata' | 'actions', Record<string, unknown>>;

interface Kind {
  readonly target?: keyof ChaosTargets;
  /** Whether a request has several messages. */
  readonly batch?: boolean;
  /** Additional members of the body of a request number. */
  readonly add?: (number: number) => Partial<Body>;
}

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

function toFile(bytes: Buffer) {
  const content = bytes.toString('base64');
  return { filename: fileNameOf(bytes), contentType: 'application/octet-stream', content };
}

/** Messages of a batch. */
const batchSize = 4;

/** Shared by many messages. */
const terms = toFile(randomBytes(40_000));
const ownFile = () => toFile(randomBytes(1 + Math.floor(Math.random() * 400_000)));
const copies = (number: number, ...places: number[]) =>
  places.map((place) => address(`copy${place}-${number}`));

/** The kinds of requests, sent in rotation. A third of the messages have Cc. */
const kinds = {
  plain: {},
  cc: { add: (n) => ({ envelope: { ccAddressList: copies(n, 1, 2) } }) },
  bcc: {
    add: (n) => ({
      envelope: { ccAddressList: copies(n, 1), bccAddressList: copies(n, 2, 3) },
    }),
  },
  archive: { target: 'archive' },
  'shared file': { add: () => ({ content: { attachments: [terms] } }) },
  'own file': {
    add: (n) => ({
      envelope: { bccAddressList: copies(n, 1) },
      content: { attachments: [terms, ownFile()] },
    }),
  },
  batch: { batch: true },
  scheduled: {
    add: (n) => ({
      envelope: { ccAddressList: copies(n, 1) },
      actions: { sendAt: inSeconds(2 + (n % 9)) },
      ...(n % 2 === 0 && { content: { attachments: [terms] } }),
    }),
  },
  deadline: {
    add: (n) => ({
      envelope: { ccAddressList: copies(n, 1) },
      actions: { deliverBefore: inSeconds(5 + (n % 20)) },
    }),
  },
  list: {
    target: 'list',
    add: (n) => {
      const items = Array.from({ length: 1 + (n % 20) }, (_, item) => ({
        Name: `${item} of ${n}`,
      }));
      return { content: { personalizationDataMap: { Items: items } } };
    },
  },
  attributes: {
    add: (n) => ({
      metadata: { attributes: { order: `${n}`, shop: 'Zürich' } },
      content: { headers: { 'X-Order': `${n}` } },
      envelope: { toDisplayName: `読者 ${n}`, ccAddressList: copies(n, 1, 2, 3) },
    }),
  },
} satisfies Record<string, Kind>;

type KindName = keyof typeof kinds;
const kindNames = Object.keys(kinds) as KindName[];

export interface ChaosLoadOptions {
  /** Requests. */
  readonly perSecond: number;
  /** Whether requests have keys and are retried until they get a response, as by careful clients. */
  readonly repeats?: boolean;
}

/** When a node accepted a request. */
interface Acceptance {
  /** Unix milliseconds. */
  readonly at: number;
  readonly node: ChaosNode;
}

/** Max time for a response before a request is retried. */
const answerTimeoutMs = 20_000;

/** Sends all kinds of messages at a steady rate to the nodes that are up, for each target in turn. */
export class ChaosLoad {
  /** Every message with a 200, by ID. */
  readonly accepted = new Map<string, Expected>();
  /** In chronological order. */
  readonly acceptances: Acceptance[] = [];
  readonly acceptedOf = makeCounts(kindNames);
  /** To addresses of the messages that got an error, so weren't accepted. */
  readonly refused = new Set<string>();
  /** Requests without a response, which may have been accepted. */
  unanswered = 0;
  readonly #nodes: readonly ChaosNode[];
  readonly #targets: readonly ChaosTargets[];
  readonly #repeats: boolean;
  readonly #clients: SteadyClients;

  constructor(
    nodes: readonly ChaosNode[],
    targets: readonly ChaosTargets[],
    { perSecond, repeats = false }: ChaosLoadOptions,
  ) {
    this.#nodes = nodes;
    this.#targets = targets;
    this.#repeats = repeats;
    this.#clients = new SteadyClients(perSecond, (number) => this.#send(number));
  }

  /** Resolves once every request has ended. */
  stop(): Promise<void> {
    return this.#clients.stop();
  }

  async #send(number: number): Promise<void> {
    const kind = kindNames[number % kindNames.length] ?? 'plain';
    const { target = 'plain', batch = false, add }: Kind = kinds[kind];
    const bodies = Array.from({ length: batch ? batchSize : 1 }, (_, place) => {
      const body: Body = JSON.parse(distinctBody(batch ? -number * batchSize - place : number));
      for (const [part, fields] of Object.entries(add?.(number) ?? {}))
        Object.assign(body[part as keyof Body], fields);
      return body;
    });
    if (this.#repeats && batch) addKeys(bodies, number);
    const round = Math.floor(number / kindNames.length);
    const { path, token } = this.#targets[round % this.#targets.length]?.[target] ?? {};
    const request = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...(this.#repeats && !batch && { 'idempotency-key': `request-${number}` }),
      },
      body: JSON.stringify(batch ? { messages: bodies } : bodies[0]),
    };
    const url = `${path}${batch ? '/batch' : ''}`;
    for (let turn = number; ; turn += 1) {
      const response = await this.#request(url, request, turn);
      const results = bodies.map((_, place) => response?.results[place] ?? response?.whole);
      const isFinal = results.every((result) => result !== undefined && !canRepeat(result));
      if (isFinal || !this.#repeats || this.#clients.giveUp) {
        if (response === undefined) this.unanswered += 1;
        for (const [place, body] of bodies.entries()) this.#note(kind, body, results[place]);
        return;
      }
      await delay(retryPause(turn - number));
    }
  }

  /** @returns undefined without a response */
  async #request(path: string, request: RequestInit, turn: number) {
    const up = this.#nodes.filter((one) => one.serves('http'));
    const node = up[turn % up.length];
    if (node === undefined) return undefined;
    const signal = this.#repeats ? AbortSignal.timeout(answerTimeoutMs) : null;
    try {
      const { status, body } = await sendRequest(`${node.url}${path}`, { ...request, signal });
      const whole: Result = { ...body, status };
      const results = (body.results ?? []) as readonly Result[];
      if ([whole, ...results].some((result) => result.status === 200 && 'messageId' in result))
        this.acceptances.push({ at: Date.now(), node });
      return { whole, results };
    } catch {
      return undefined;
    }
  }

  #note(kind: KindName, { envelope, content, actions }: Body, result: Result | undefined) {
    if (result === undefined) return;
    const to = String(envelope.toAddress);
    if (result.status !== 200) {
      this.refused.add(to);
      return;
    }
    const { ccAddressList = [], bccAddressList = [] } = envelope as Record<string, string[]>;
    const files = (content.attachments ?? []) as { readonly filename: string }[];
    const archive = kind === 'archive' ? [archiveAddress] : [];
    this.accepted.set(String(result.messageId), {
      recipients: [to, ...ccAddressList, ...bccAddressList, ...archive],
      files: files.map(({ filename }) => filename),
      sendAt: Date.parse(String(actions.sendAt ?? '')) || 0,
      canExpire: actions.deliverBefore !== undefined,
    });
    this.acceptedOf[kind] += 1;
  }
}

/** Whether a request with a key can be retried: the service failed, or another request with the key is in progress. */
function canRepeat({ status }: Result): boolean {
  return Number(status) >= 500 || status === 409;
}

function addKeys(bodies: readonly Body[], number: number): void {
  for (const [place, body] of bodies.entries())
    Object.assign(body, { idempotencyKey: `request-${number}-${place}` });
}

/** A recipient's number in its message: 0 is To. */
export function recipientNumber(of: string): number {
  return Number(/^copy(\d)-/.exec(of)?.[1] ?? 0);
}
