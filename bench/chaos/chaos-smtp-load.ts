import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { distinctValues } from '../bench-account.ts';
import { BenchSessionLost, BenchSmtpSession, toWire } from '../submission/bench-smtp-session.ts';
import { makeCounts } from './chaos-faults.ts';
import type { ChaosNode } from './chaos-node.ts';
import { fileNameOf } from './rough-sink.ts';
import { retryPause, SteadyClients } from './steady-clients.ts';

/** Credentials of the programs. */
export interface ChaosLogin {
  readonly accountId: string;
  readonly apiKey: string;
}

/** A message that a client submits until it gets a final reply. */
export interface SmtpMessage {
  readonly recipients: readonly string[];
  /** Names of its attachments. */
  readonly files: readonly string[];
  /** The bytes of an attempt. */
  readonly source: () => string;
}

const smtpAddress = /^smtp\d+(?:-\w+)?@/;

/** Whether a recipient belongs to this load. */
export function isSmtpRecipient(address: string): boolean {
  return smtpAddress.test(address);
}

const head = (id: string): string =>
  [
    'From: Demo Shop <orders@shop.test>',
    'To: undisclosed-recipients:;',
    'Subject: Over SMTP',
    'Date: Thu, 1 Jan 2026 10:00:00 +0000',
    `Message-ID: <${id}@app.test>`,
    'MIME-Version: 1.0',
    '',
  ].join('\r\n');

const text = 'Content-Type: text/plain\r\n\r\nHello,\r\n..\r\n.dot\r\n';

/** The attachment in lines of 76 characters (RFC 2045 section 6.8). */
function withFile(name: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  return [
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${name}"`,
    '',
    lines,
    '--part--',
    '',
  ].join('\r\n');
}

const recipientOf = (number: number, part?: string): string =>
  `smtp${number}${part === undefined ? '' : `-${part}`}@example.test`;

/** The kinds of messages, sent in rotation. */
const smtpKinds = {
  'smtp plain': (number) => ({ recipients: [recipientOf(number)], files: [], ...same(text) }),
  'smtp to three': (number) => ({
    recipients: ['a', 'b', 'c'].map((part) => recipientOf(number, part)),
    files: [],
    ...same(text),
  }),
  'smtp with file': (number) => {
    const bytes = randomBytes(1 + Math.floor(Math.random() * 200_000));
    const name = fileNameOf(bytes);
    return { recipients: [recipientOf(number)], files: [name], ...same(withFile(name, bytes)) };
  },
  // Composed again for each attempt, as by a program that repeats the whole call.
  'smtp with key': (number) => ({
    recipients: [recipientOf(number)],
    files: [],
    source: () => `X-Signalpost-Idempotency-Key: order-${number}\r\n${head(randomUUID())}${text}`,
  }),
  'smtp template': (number) => ({
    recipients: ['a', 'b'].map((part) => recipientOf(number, part)),
    files: [],
    ...same(
      `X-Signalpost-Template: t-0001\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(distinctValues(number, 'smtp'))}\r\n`,
    ),
  }),
} satisfies Record<string, (number: number) => SmtpMessage>;

/** The same bytes for all attempts. */
function same(body: string): Pick<SmtpMessage, 'source'> {
  const source = head(randomUUID()) + body;
  return { source: () => source };
}

type SmtpKind = keyof typeof smtpKinds;
const smtpKindNames = Object.keys(smtpKinds) as SmtpKind[];

/**
 * The reply to the first attempt of every seventh message is dropped: node faults rarely hit the moment between a
 * commit and its reply. Seven and the number of kinds have no common divisor.
 */
const lostReplyEvery = 7;
/** Timeout of each reply. */
const replyTimeoutMs = 20_000;

/** Programs that submit messages over SMTP at a steady rate, one per session, until they get a final reply. */
export class ChaosSmtpLoad {
  /** Messages with a 250 after their dot. */
  readonly accepted: SmtpMessage[] = [];
  readonly acceptedOf = makeCounts(smtpKindNames);
  /** Messages whose first attempt got a 5xx, so weren't accepted. */
  refused = 0;
  /** Messages whose clients gave up. */
  unanswered = 0;
  /** Attempts that ended without a reply to the dot or with 4xx, and were repeated. */
  repeated = 0;
  readonly #nodes: readonly ChaosNode[];
  readonly #login: ChaosLogin;
  readonly #clients: SteadyClients;

  constructor(nodes: readonly ChaosNode[], login: ChaosLogin, perSecond: number) {
    this.#nodes = nodes;
    this.#login = login;
    this.#clients = new SteadyClients(perSecond, (number) => this.#send(number));
  }

  /** Resolves once every client has ended. */
  stop(): Promise<void> {
    return this.#clients.stop();
  }

  async #send(number: number): Promise<void> {
    const kind = smtpKindNames[number % smtpKindNames.length] ?? 'smtp plain';
    const message = smtpKinds[kind](number);
    for (let turn = number; ; turn += 1) {
      const got = await this.#attempt(message, turn);
      const isLost = turn === number && number % lostReplyEvery === 0;
      const code = isLost && got === 250 ? 0 : got;
      if (code === 250) {
        this.accepted.push(message);
        this.acceptedOf[kind] += 1;
        return;
      }
      if (code !== undefined && code >= 500) {
        this.refused += 1;
        return;
      }
      if (code !== undefined) this.repeated += 1;
      if (this.#clients.giveUp) {
        this.unanswered += 1;
        return;
      }
      await delay(retryPause(turn - number));
    }
  }

  /** @returns the code of the last reply; 0 if the session ended without one; undefined if no node is up */
  async #attempt({ recipients, source }: SmtpMessage, turn: number): Promise<number | undefined> {
    const up = this.#nodes.filter((node) => node.serves('smtp'));
    const submission = up[turn % up.length]?.submission;
    if (submission === undefined) return undefined;
    const secure = turn % 2 === 0;
    let session: BenchSmtpSession | undefined;
    try {
      session = await BenchSmtpSession.open({
        port: secure ? submission.tlsPort : submission.port,
        secure,
        timeoutMs: replyTimeoutMs,
      });
      const loggedIn = await session.login(this.#login.accountId, this.#login.apiKey);
      return loggedIn === 235
        ? await session.submit('orders@shop.test', recipients, [toWire(source())])
        : loggedIn;
    } catch (error) {
      if (!(error instanceof BenchSessionLost)) throw error;
      return 0;
    } finally {
      session?.close();
    }
  }
}
